#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ptx_catch.py [NVCC] - tests that tools/check_ptx.py reports one planted violation of each kind, and nothing else.

The violations are planted in PTX text; with an nvcc, the kernels of ptx_violations.cu are compiled and audited too."""
import contextlib
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_ptx  # pylint: disable=wrong-import-position

NVCC = None

# PTX as nvcc writes it, of two kernels that keep every rule. Tests replace the marks @PLANT...@.
GOOD = """//
.version 9.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[16] = {1, 2, 3};
.func (.param .b32 func_retval0) called(
	.param .b32 called_param_0
)
{
	.reg .b32 %f<4>;
	@PLANT_CALLED@
	mul.rn.f32 	%f3, %f1, %f2;
	ret;
}
	// .globl	good
.visible .entry good(
	.param .align 8 .b8 good_param_0[24]
)
.maxntid 256
{
	.reg .pred 	%p<8>;
	.loc	1 10 5
	ld.param.b64 	%rd1, [good_param_0];
	setp.lt.f32 	%p1, %f1, %f2;
	@%p1 bra 	$L__BB0_2;
$L__BB0_1: add.rn.f32 	%f4, %f1, %f2;
	@!%p1 sub.rn.f64 	%fd4, %fd1, %fd2;
	div.rn.f32 	%f5, %f4, 0f3F800000; sqrt.rn.f32 %f6, %f5;
	add.sat.s32 	%r1, %r2, %r3;
	mad.lo.s32 	%r4, %r1, %r2, %r3;
	fma.rn.f32 	%f7, %f4, %f5, %f6;
	atom.global.min.u64 	%rd4, [%rd3], %rd2;
	cvt.rzi.s64.f64 	%rd5, %fd4;
	cvt.rn.f16.f32 	%rs1, %f7;
	cvta.to.global.u64 	%rd6, %rd1; // nothing.approx here, add.f32
	/* ex2.approx.f32 %f1, %f2; */
	// begin inline asm
	cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;
	// end inline asm
	mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1,%r2}, {%r3}, {%r4}, {%r1,%r2};
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	call.uni (retval0),
	called,
	(
	param0
	);
	} // callseq 0
	@PLANT@
$L__BB0_2:
	ret;
}
.visible .entry plain(
	.param .u64 plain_param_0
)
{
	@PLANT_PLAIN@
	add.rn.f32 	%f1, %f2, %f3;
	ret;
}
"""
TABLE = """/* VT_GPU(absent, none) */
#ifndef VT_GPU_FUSED
#error the audit tells fused kernels
#endif
VT_GPU_FUSED(good, args, contraction)
VT_GPU(plain, args)
"""


def check(*arguments):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = check_ptx.main([str(a) for a in arguments])
    return status, said.getvalue()


def audit(ptx, table=TABLE, *more):
    with tempfile.TemporaryDirectory() as folder:
        path, rows = pathlib.Path(folder, "x.ptx"), pathlib.Path(folder, "kernels.def")
        path.write_text(re.sub(r"@PLANT\w*@", "", ptx))
        rows.write_text(table)
        return check("--table", rows, path, *more)


class Audit(unittest.TestCase):
    def catches(self, said, *given):
        status, output = audit(*given)
        self.assertEqual(status, 1, output)
        self.assertEqual(len(output.splitlines()), 2, output)
        self.assertIn(said, output)

    def plant(self, said, line, place="@PLANT@"):
        self.catches(said, GOOD.replace(place, line))

    def test_good(self):
        status, output = audit(GOOD)
        self.assertEqual(status, 0, output)
        self.assertIn("2 kernels", output)

    def test_nothing(self):
        status, output = audit("")
        self.assertEqual(status, 1, output)

    def test_rounding(self):
        for operation in ("add", "sub", "mul", "div", "sqrt", "rcp", "fma"):
            for kind in ("f32", "f64"):
                self.plant("without .rn", f"{operation}.{kind} %f1, %f2, %f3;")
                self.plant("without .rn", f"@%p1 {operation}.rz.{kind} %f1, %f2, %f3;")
        self.plant("without .rn", "add.f32x2 %rd1, %rd2, %rd3;")
        self.plant("without .rn", "{add.f32 %f1, %f2, %f3;}")
        self.plant("without .rn", "{ .reg .f32 t; add.f32 %f1,\n\t%f2, %f3; }")
        self.plant("without .rn", "$L__BB0_9: add.f32 %f1, %f2, %f3;")
        self.plant("rounded by .rp", "cvt.rp.f32.f64 %f1, %fd2;")
        self.plant("mad:", "mad.rn.f32 %f1, %f2, %f3, %f4;")

    def test_loose(self):
        self.plant(".approx", "div.approx.f32 %f1, %f2, %f3;")
        self.plant(".approx", "sqrt.approx.f32 %f1, %f2;")
        self.plant(".approx", "rcp.approx.ftz.f64 %fd1, %fd2;")
        self.plant(".full", "div.full.f32 %f1, %f2, %f3;")
        self.plant(".ftz", "add.rn.ftz.f32 %f1, %f2, %f3;")
        self.plant(".ftz", "setp.lt.ftz.f32 %p1, %f2, %f3;")
        self.plant(".sat", "add.rn.sat.f32 %f1, %f2, %f3;")
        self.plant(".sat", "cvt.sat.f32.f32 %f1, %f2;")

    def test_hardware(self):
        for name in ("ex2.approx.f32", "lg2.approx.ftz.f32", "sin.approx.f32", "cos.approx.f32",
                     "tanh.approx.f32", "rsqrt.approx.f64", "ex2.approx.ftz.bf16x2"):
            self.plant("the hardware's " + name.split(".", maxsplit=1)[0], f"{name} %f1, %f2;")

    def test_atomics(self):
        for name in ("atom.global.add.f32", "atom.shared.add.f64", "red.global.add.f32", "red.relaxed.gpu.global.add.f64",
                     "atom.global.add.noftz.f16x2", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32"):
            self.plant("an atomic operation on floats", f"{name} %f1, [%rd1], %f2;")

    def test_matrices(self):
        for name in ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16",
                     "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
                     "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", "tcgen05.mma.cta_group::1.kind::tf32"):
            self.plant("a matrix operation on floats", f"{name} {{%f1}}, {{%r1}}, {{%r2}}, {{%f1}};")

    def test_halves(self):
        for name in ("add.rn.f16", "mul.bf16x2", "fma.rn.f16x2"):
            self.plant("arithmetic on", f"{name} %r1, %r2, %r3;")

    def test_fused(self):
        self.plant("f32 is fused, and its row is plain", "fma.rn.f32 %f1, %f2, %f3, %f4;", "@PLANT_PLAIN@")
        self.plant("f64 is fused, and its row is plain", "fma.rn.f64 %f1, %f2, %f3, %f4;", "@PLANT_PLAIN@")
        self.plant("f64 is fused, and its row is contraction", "fma.rn.f64 %f1, %f2, %f3, %f4;")
        self.plant("f32 is fused, and its row is plain", "fma.rn.f32x2 %f1, %f2, %f3, %f4;", "@PLANT_PLAIN@")
        ptx = GOOD.replace("@PLANT_CALLED@", "fma.rn.f32 %f1, %f2, %f3, %f4;")
        self.assertEqual(audit(ptx)[0], 0, audit(ptx)[1])
        self.catches("plain: f32 is fused (in called)", ptx.replace("@PLANT_PLAIN@", "call.uni called, (param0);"))
        self.plant("known only at run time", "call (retval0), %rd5, (param0), prototype_0;")
        wide = TABLE.replace("contraction", "wide")
        self.assertEqual(audit(GOOD.replace("@PLANT@", "fma.rn.f64 %f1, %f2, %f3, %f4;"), wide)[0], 0)

    def test_table(self):
        self.catches("stray has no row in the table", GOOD + GOOD[GOOD.index(".visible .entry plain"):].replace("plain", "stray"))
        self.catches("lost: it has a row in the table but is in no file", GOOD, TABLE + "VT_GPU(lost, args)\n")
        self.catches("plain: its row says functions, but it uses no fma", GOOD, TABLE.replace(
            "VT_GPU(plain, args)", "VT_GPU_FUSED(plain, args, functions)"))
        self.catches("the reason speed is not one of", GOOD, TABLE.replace("contraction", "speed"))

    def test_spills(self):
        with tempfile.NamedTemporaryFile("w", suffix=".usage") as usage:
            for name, bytes_ in (("good", 0), ("plain", 24)):
                usage.write(f"ptxas info    : Compiling entry function '{name}' for 'sm_80'\n"
                            f"ptxas info    : Function properties for {name}\n"
                            f"    {bytes_} bytes stack frame, {bytes_} bytes spill stores, {bytes_} bytes spill loads\n")
            usage.flush()
            status, output = audit(GOOD, TABLE, "--usage", usage.name)
        self.assertEqual(status, 0, output)
        self.assertIn("plain sm_80: 24 bytes stored, 24 loaded", output)
        self.assertIn("registers: 2 kernels, 1 of them spill", output)


class Compiled(unittest.TestCase):
    def test_violations(self):
        if NVCC is None:
            self.skipTest("no nvcc here")
        source = ROOT / "tests" / "tools_test" / "ptx_violations.cu"
        names = re.findall(r"^VIOLATION\((\w+)\)", source.read_text(), re.M)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "violations.ptx")
            subprocess.run([NVCC, "-std=c++17", "-O3", "-arch=compute_80", "-ptx", str(source), "-o", str(path)],
                           check=True)
            status, output = check(path)
        self.assertEqual(status, 1)
        self.assertGreater(len(names), 12)
        for name in names:
            self.assertRegex(output, rf": {name}: ")


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        NVCC = sys.argv.pop(1)
    unittest.main()
