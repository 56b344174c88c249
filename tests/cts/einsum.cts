# einsum: one operand, two, more; diagonals, labels of one operand alone, axes that broadcast.

case einsum one
over T = f32 | f64
over E & S = ij->ji & 3, 4 | ij->ij & 3, 4 | ij->i & 3, 33 | ij->j & 5, 4 | ij-> & 3, 5 | kji->ki & 2, 33, 3 | kij->k & 2, 5, 7 | -> & | i-> & 0 | i-> & 1025 | ji->j & 2, 0 | abcdefgh->hgab & 2, 1, 2, 3, 2, 1, 2, 3
  input x: $T[$S]
  output y = einsum(x, equation="$E")
end

case einsum diagonal
over T = f32 | f64
over E & S = ii->i & 4, 4 | ii-> & 5, 5 | iij->ji & 3, 3, 2 | iji->j & 3, 4, 3 | iii->i & 3, 3, 3 | ijji->ij & 2, 3, 3, 2 | ii->i & 0, 0 | ii->i & 1, 1 | iijj->j & 3, 3, 4, 4
  input x: $T[$S]
  output y = einsum(x, equation="$E")
end

case einsum matrix
over T = f32 | f64
over E = ij,jk->ik | ij,jk->ki | ij,jk-> | ij,jk->ijk | ij,jk->j | ij,jk->i | ij,jk->k
over I & J & K = 2 & 3 & 4 | 1 & 8 & 1 | 3 & 33 & 2 | 2 & 257 & 2 | 0 & 3 & 2 | 2 & 0 & 3
  input x: $T[$I, $J]
  input w: $T[$J, $K]
  output y = einsum(x, w, equation="$E")
end

case einsum deep
over T = f32 | f64
over K = 255 | 256 | 257 | 2047 | 2048 | 2049 | 16385
  input x: $T[2, $K]
  input w: $T[$K, 2]
  output y = einsum(x, w, equation="ik,kj->ij")
end

case einsum pairs
over T = f32 | f64
over E & S & R = i,i-> & 7 & 7 | i,j->ij & 3 & 4 | i,j-> & 17 & 19 | i,j->j & 5 & 4 | ,-> & & | ij,-> & 3, 4 & | ,i->i & & 5 | bij,bjk->bik & 2, 3, 4 & 2, 4, 2 | ijk,kjl->il & 2, 3, 5 & 5, 3, 2 | ijk,jl->il & 2, 3, 5 & 3, 4 | aijb,bjci->ca & 2, 3, 4, 2 & 2, 4, 3, 3 | iij,jkk->ik & 2, 2, 3 & 3, 4, 4 | ii,i->i & 3, 3 & 3 | ij,ij->ij & 3, 2 & 3, 2 | akblcmdn,abcd->kn & 2, 1, 2, 2, 1, 2, 2, 2 & 2, 2, 1, 2
  input x: $T[$S]
  input w: $T[$R]
  output y = einsum(x, w, equation="$E")
end

case einsum broadcast
over T = f32 | f64
over E & S & R = ...ij,...jk->...ik & 2, 3, 4 & 2, 4, 2 | ...ij,...jk->...ik & 3, 4 & 5, 4, 2 | ...ij,...jk->...ik & 5, 1, 3, 4 & 2, 4, 2 | i...,...i->... & 3, 2, 1 & 4, 3 | ...,...->... & 2, 1 & 1, 3 | ...i,i->...i & 2, 3, 4 & 4 | ...i,...i->... & 1, 33 & 1, 33 | i...,j->j... & 2, 3 & 5 | ...,i->i... & 0, 2 & 3 | ...i,...->i... & 3, 2, 2, 1, 2, 1, 1, 2 & 2, 1
  input x: $T[$S]
  input w: $T[$R]
  output y = einsum(x, w, equation="$E")
end

case einsum three
over T = f32 | f64
over E & S & R & Q = ij,jk,kl->il & 2, 3 & 3, 4 & 4, 2 | ij,k,j->i & 2, 3 & 4 & 3 | i,i,i-> & 9 & 9 & 9 | i,j,k->kij & 2 & 3 & 4 | ab,bc,ca-> & 3, 4 & 4, 2 & 2, 3 | ...i,...j,ij->... & 2, 3 & 4 & 3, 4 | ij,jj,i->j & 2, 3 & 3, 3 & 2 | ij,jk,kl->il & 2, 0 & 0, 3 & 3, 2 | i,ij,->j & 300 & 300, 2 &
  input x: $T[$S]
  input w: $T[$R]
  input v: $T[$Q]
  output y = einsum(x, w, v, equation="$E")
end

case einsum many
over T = f32 | f64
over A & E = & ij,jk,kl,l,lm->mi | , a, b, e & ij,jk,kl,l,lm,nm,mn,l->in
  input a: $T[2, 3]
  input b: $T[3, 2]
  input c: $T[2, 4]
  input e: $T[4]
  input f: $T[4, 3]
  output y = einsum(a, b, c, e, f$A, equation="$E")
end

case einsum gradient one
over T = f32 | f64
over E & S = ij->ji & 3, 4 | ij->i & 3, 5 | ij-> & 2, 3 | kji->ki & 2, 5, 3 | ii->i & 4, 4 | iij->j & 3, 3, 2 | -> & | i...->... & 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = einsum(x, equation="$E")
grad x
end

case einsum gradient two
over T = f32 | f64
over E & S & R = ij,jk->ik & 2, 3 & 3, 4 | ij,jk->j & 2, 3 & 3, 4 | ij,jk-> & 2, 3 & 3, 2 | i,j->ij & 3 & 4 | i,j-> & 3 & 2 | bij,bjk->bik & 2, 3, 4 & 2, 4, 2 | iij,jkk->ik & 2, 2, 3 & 3, 2, 2 | ...ij,...jk->...ik & 3, 4 & 2, 4, 2 | ...ij,...jk->...ik & 3, 1, 2, 3 & 2, 3, 2 | ij,-> & 2, 3 & | abcd,be->ace & 2, 2, 1, 3 & 2, 2
mix ordinary
  input x: $T[$S]
  input w: $T[$R]
  output y = einsum(x, w, equation="$E")
grad x
grad w
end

case einsum gradient three
over T = f32 | f64
over E & S & R & Q = ij,jk,kl->il & 2, 3 & 3, 2 & 2, 2 | ij,k,j->i & 2, 3 & 2 & 3 | ab,bc,ca-> & 2, 3 & 3, 2 & 2, 2 | ...i,...j,ij->... & 2, 3 & 2 & 3, 2
mix ordinary
  input x: $T[$S]
  input w: $T[$R]
  input v: $T[$Q]
  output y = einsum(x, w, v, equation="$E")
grad x
grad w
grad v
end
