/* SPDX-License-Identifier: MIT */
#include "wire/http1_bytes.h"

/* The kinds of bytes: A in values, B a blank, S in targets too, T in words too but not in targets,
 * W in both, N in names of hosts too, but not in words, M in all three, H a letter of hexadecimal
 * numbers, D a digit. */
#define A BYTE_VALUE
#define B (A | BYTE_BLANK)
#define S (A | BYTE_VISIBLE)
#define T (A | BYTE_TOKEN)
#define W (S | T)
#define N (S | BYTE_NAME)
#define M (W | N)
#define H (M | BYTE_HEX)
#define D (H | BYTE_DIGIT)
#define ROW_A A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A

/* clang-format off */
const uint8_t http1_bytes[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, B, 0, 0, 0, 0, 0, 0, /* HTAB */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    B, M, S, T, M, W, M, M, N, N, M, M, N, M, M, S, /*   ! " # $ % & ' ( ) * + , - . / */
    D, D, D, D, D, D, D, D, D, D, S, N, S, N, S, S, /* 0 1 2 3 4 5 6 7 8 9 : ; < = > ? */
    S, H, H, H, H, H, H, M, M, M, M, M, M, M, M, M, /* @ A B C D E F G H I J K L M N O */
    M, M, M, M, M, M, M, M, M, M, M, S, S, S, W, M, /* P Q R S T U V W X Y Z [ \ ] ^ _ */
    W, H, H, H, H, H, H, M, M, M, M, M, M, M, M, M, /* ` a b c d e f g h i j k l m n o */
    M, M, M, M, M, M, M, M, M, M, M, S, W, S, M, 0, /* p q r s t u v w x y z { | } ~   */
    ROW_A, ROW_A, ROW_A, ROW_A, ROW_A, ROW_A, ROW_A, ROW_A,
};
