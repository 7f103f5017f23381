# SPDX-License-Identifier: BSD-3-Clause
# TUTTI_ISA: which instruction sets the compiler can make; sets conditionals
# AVX2, AVX512, NEON and the flags of each.
AC_DEFUN([TUTTI_ISA_ONE], [
  AC_CACHE_CHECK([whether $CC can make $1], [tutti_cv_isa_$1],
    [tutti_save_CFLAGS=$CFLAGS
     CFLAGS="$CFLAGS $2"
     AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <$3>]], [[$4]])],
       [tutti_cv_isa_$1=yes], [tutti_cv_isa_$1=no])
     CFLAGS=$tutti_save_CFLAGS])
  AS_IF([test "x$tutti_cv_isa_$1" = xyes],
    [tutti_isa_list="$tutti_isa_list $1"
     AC_DEFINE([HAVE_]m4_toupper([$1]), [1], [Define to 1 if $1 kernels are built.])])
  m4_toupper([$1])_CFLAGS="$2"
  AC_SUBST(m4_toupper([$1])[_CFLAGS])
  AM_CONDITIONAL(m4_toupper([$1]), [test "x$tutti_cv_isa_$1" = xyes])
])
AC_DEFUN([TUTTI_ISA], [
  TUTTI_ISA_ONE([avx2], [-mavx2 -mf16c], [immintrin.h],
    [__m256i a = _mm256_setzero_si256(); (void)_mm256_add_epi8(a, a);])
  TUTTI_ISA_ONE([avx512], [-mavx512f -mavx512bw -mavx512vl -mavx512dq -mf16c], [immintrin.h],
    [__m512i a = _mm512_setzero_si512(); (void)_mm512_add_epi8(a, a);])
  TUTTI_ISA_ONE([neon], [], [arm_neon.h],
    [float64x2_t a = vdupq_n_f64(0); (void)vaddq_f64(a, a);])
])
