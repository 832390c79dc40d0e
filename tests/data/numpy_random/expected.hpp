// Printed by make.py with NumPy 1.24.2; see README.md.
#pragma once

#include <cstdint>
#include <vector>

namespace numpy_random {

struct Case {
  std::vector<std::uint32_t> words, state32;
  std::vector<std::uint64_t> state64, next64;
  std::vector<std::uint32_t> next32;
  std::vector<std::uint64_t> random, uniform, normal, standard_normal;
  std::vector<std::int64_t> permutation;
  std::uint64_t permutation_checksum;
  std::vector<std::int64_t> shuffled;
  std::uint64_t normal_checksum, random_checksum, interleaved_checksum;
  std::vector<std::uint64_t> range_checksums;
};

struct Range {
  std::int64_t first, last;
};

inline const std::vector<Range> ranges = {
    {5, 5}, {0, 1}, {0, 9}, {-3, 3},
    {0, 65535}, {0, 2147483648}, {0, 3221225472}, {0, 4294967294},
    {0, 4294967295}, {0, 4294967296}, {-1099511627776, 1099511627775}, {-5, 6917529027641081856},
    {0, 4611686018427387903}, {0, 9223372036854775807}, {-4611686018427387904, 4611686018427387904}, {INT64_MIN, 9223372036854775806},
    {INT64_MIN, 9223372036854775807}};

inline const std::vector<Case> cases = {
    {.words = {0x0u},
     .state32 = {0xb0f478beu, 0xdb2cd7e7u, 0x2c71ba49u, 0xabf4641au, 0x9d7b8d41u,
       0x20c6ed6du, 0x223c39d4u, 0x2c4099deu, 0x9ad485feu, 0x8fed075u},
     .state64 = {0xdb2cd7e7b0f478beu, 0xabf4641a2c71ba49u, 0x20c6ed6d9d7b8d41u, 0x2c4099de223c39d4u},
     .next64 = {0xa30febcfd9c2825fu, 0x4510bdf882d9d721u, 0xa7d3da94ecde8b8u, 0x43b27b61342f01du},
     .next32 = {0xd9c2825fu, 0xa30febcfu, 0x82d9d721u, 0x4510bdf8u, 0x4ecde8b8u},
     .random = {0x3fe461fd79fb3850u, 0x3fd1442f7e20b674u, 0x3fa4fa7b529d9bd0u, 0x3f90ec9ed84d0bc0u},
     .uniform = {0x4003503aa335d7aau, 0xbfe69e3627f4f894u, 0xc00536bb9f07114eu},
     .normal = {0x40004d3fa7628414u, 0x3fff5dab673c1a2fu, 0x40018979c5ee406fu},
     .standard_normal = {0x3fc017ed89db8441u, 0xbfc0e8cfe9bd45ccu, 0x3fe47e57a468b06du, 0x3fbadabbec84d4f0u, 0xbfe1243418e643edu,
       0x3fd7245f95ced1e6u},
     .permutation = {9, 2, 7, 4, 5,
       11, 0, 3, 6, 10,
       8, 1},
     .permutation_checksum = 0x1c6b2b6983e7cu,
     .shuffled = {0, 11, 5, 3, 3,
       -7, 4611686018427387904, -1},
     .normal_checksum = 0xd1879303c87880bu,
     .random_checksum = 0xd01bb42bed730150u,
     .interleaved_checksum = 0x463b9a190e0c294cu,
     .range_checksums = {0x4c7255u, 0x83000u, 0x4686a0u, 0x15cf5u, 0x7d939f16fu,
       0x3d127f7777d49u, 0x5d68636f4b190u, 0x7d941af276938u, 0x7d941af36b349u, 0x7cb469edfafd4u,
       0x4c7c3dbf1c536cu, 0x9a3e92b54398c799u, 0xa7b7e478a8a480deu, 0x4f6fc8f15150776eu, 0x4300ce93ba16a526u,
       0x1edf91e2a2994ebcu, 0x1edf91e2a2a898cdu}},
    {.words = {0x7u},
     .state32 = {0x7c326e58u, 0xead0f701u, 0xf97e037au, 0x879c4f0u, 0x6745675fu,
       0x623a8c4bu, 0x60386cacu, 0xb3443fadu, 0xb6ecdbe6u, 0x533d3f6cu},
     .state64 = {0xead0f7017c326e58u, 0x879c4f0f97e037au, 0x623a8c4b6745675fu, 0xb3443fad60386cacu},
     .next64 = {0xa00641a9f1e54a8bu, 0xe5afcdbcaf266a95u, 0xc693565f940af962u, 0x39a72dabd56a2742u},
     .next32 = {0xf1e54a8bu, 0xa00641a9u, 0xaf266a95u, 0xe5afcdbcu, 0x940af962u},
     .random = {0x3fe400c8353e3ca9u, 0x3fecb5f9b795e4cdu, 0x3fe8d26acbf2815fu, 0x3fccd396d5eab510u},
     .uniform = {0x400281a9712440e8u, 0x40128159530f431au, 0x400cbf22f16352eau},
     .normal = {0x400000c17c844133u, 0x4000b78c9c303836u, 0x3ffeaf23afefcb33u},
     .standard_normal = {0x3f5427a31c1ffc58u, 0x3fd31ea59a5b303eu, 0xbfd18b7980d81558u, 0xbfec7fba74b18102u, 0xbfdd19537e309692u,
       0xbfefbb918e5cd3f0u},
     .permutation = {4, 6, 10, 0, 1,
       3, 8, 7, 2, 5,
       9, 11},
     .permutation_checksum = 0x1c671f7de56d0u,
     .shuffled = {-7, 3, -1, 0, 11,
       3, 4611686018427387904, 5},
     .normal_checksum = 0x677cbcb3e2f08c6cu,
     .random_checksum = 0x817f25a0d47eebb7u,
     .interleaved_checksum = 0x2a75bf564957e560u,
     .range_checksums = {0x4c7255u, 0x7c873u, 0x468e67u, 0x14277u, 0x7d3dd3d71u,
       0x3cd760d21dd43u, 0x5bdeb249b13bfu, 0x7d3e4e7e672bcu, 0x7d3e4e7f5bccdu, 0x776ad905247e3u,
       0xffa34a20a47071d0u, 0xd3ca2455d2eaddabu, 0x64148f006063cd95u, 0xc8291e00c0cf5a68u, 0xc0e1f85ffb23a965u,
       0x10523c018197453eu, 0x10523c0181a68f4fu}},
    {.words = {0x135289du},
     .state32 = {0xbe7240b3u, 0x4f11aafbu, 0xd16e1c6bu, 0x7ae0f43au, 0xfba737a6u,
       0xc3de2b64u, 0xe9740b51u, 0x40d37f99u, 0x70c53484u, 0x4c26b6acu},
     .state64 = {0x4f11aafbbe7240b3u, 0x7ae0f43ad16e1c6bu, 0xc3de2b64fba737a6u, 0x40d37f99e9740b51u},
     .next64 = {0x3711c964c4239ddfu, 0x6a11544c7b9a959u, 0x29bdc4f2626babe2u, 0x20ffb925d2163b04u},
     .next32 = {0xc4239ddfu, 0x3711c964u, 0xc7b9a959u, 0x6a11544u, 0x626babe2u},
     .random = {0x3fcb88e4b26211ccu, 0x3f9a8455131ee6a0u, 0x3fc4dee2793135d4u, 0x3fc07fdc92e90b1cu},
     .uniform = {0xbff2be8d0277cd17u, 0xc0063d3659baf2afu, 0xbff9d32f5f3bb6cfu},
     .normal = {0x3ff7c2e7bf46a53cu, 0x3ffebbe5142804beu, 0x3ffc74442f9321fau},
     .standard_normal = {0xbffb7650d7bf2e8cu, 0xbfd0e166f33fc0cau, 0xbfe7a38ec2d5c827u, 0xbf87fb57e7088676u, 0x3fc9ffb2aad7c83fu,
       0xbfe72505de491e7du},
     .permutation = {6, 1, 3, 7, 0,
       5, 10, 8, 2, 11,
       9, 4},
     .permutation_checksum = 0x1c6e9e169ce84u,
     .shuffled = {3, -7, 5, 0, 3,
       4611686018427387904, 11, -1},
     .normal_checksum = 0x8d1b92f19a6cfe86u,
     .random_checksum = 0x44c170f4485140e8u,
     .interleaved_checksum = 0x9d0897c095d590f6u,
     .range_checksums = {0x4c7255u, 0x7f5fdu, 0x460025u, 0xa8a0u, 0x7c48c527cu,
       0x3f22d4fd5c7c2u, 0x5c23ed0e4fbadu, 0x7c49417622c73u, 0x7c49417717684u, 0x7cf2e9423d086u,
       0x544c28475945ccu, 0x44debf9f0fdde89fu, 0xa508ec1eac83b3c5u, 0x4a11d83d590fa258u, 0xcf43713b85adebb2u,
       0x1423b07ab217aa7au, 0x1423b07ab226f48bu}},
    {.words = {0xffffffffu, 0xffffffffu},
     .state32 = {0x928cad0du, 0xaebca151u, 0x8638dc7au, 0x119c3044u, 0x59e642a7u,
       0x1bbb1556u, 0xe8c4a8f6u, 0xa76b11e3u, 0xe0fe8bffu, 0xdcf3dd1eu},
     .state64 = {0xaebca151928cad0du, 0x119c30448638dc7au, 0x1bbb155659e642a7u, 0xa76b11e3e8c4a8f6u},
     .next64 = {0xae163a7a8c47568fu, 0xd86659f5f3382359u, 0x1e52b195bc2d24au, 0xe5026aaf19a22db1u},
     .next32 = {0x8c47568fu, 0xae163a7au, 0xf3382359u, 0xd86659f5u, 0x5bc2d24au},
     .random = {0x3fe5c2c74f5188eau, 0x3feb0ccb3ebe6704u, 0x3f7e52b195bc2d00u, 0x3feca04d55e33445u},
     .uniform = {0x40063de7888d42f2u, 0x4010bd97f2aa4d74u, 0xc0077f208d43a041u},
     .normal = {0x4001bb306a1e2370u, 0x3ffb5715ee4fcdfdu, 0x40002a8863428255u},
     .standard_normal = {0x3fe715303191d87bu, 0xbfef10c32096a2bdu, 0x3fb1b8d40660f8bfu, 0xbfd2fb3a24341b2bu, 0xbf996bfdca5babc4u,
       0xbfef0a8b8b15689eu},
     .permutation = {8, 6, 3, 2, 11,
       0, 4, 7, 1, 5,
       9, 10},
     .permutation_checksum = 0x1c636a852c1f4u,
     .shuffled = {-7, 11, 5, 3, 3,
       4611686018427387904, 0, -1},
     .normal_checksum = 0xbf15ffa4929b1fadu,
     .random_checksum = 0xbc088fdb5808e42eu,
     .interleaved_checksum = 0x4a18e47d16e6438eu,
     .range_checksums = {0x4c7255u, 0x7b616u, 0x45b748u, 0x7f3du, 0x7bc0bb7e8u,
       0x3bcdb710d4933u, 0x5dac92e45b44eu, 0x7bc137af99aa3u, 0x7bc137b08e4b4u, 0x7a549f8f1e6f0u,
       0x82f1e3dd28fau, 0x798832aaa40f3cfu, 0x7e3c7c98dd338bb9u, 0xfc78f931ba6e6a88u, 0x501175c91b137495u,
       0x78f1f26374d5ca2au, 0x78f1f26374e5143bu}},
    {.words = {0x76543210u, 0xfedcba98u, 0x89abcdefu, 0x1234567u},
     .state32 = {0x73788ea3u, 0x8dc98c66u, 0xedd055f4u, 0xf5914b39u, 0x72dbea80u,
       0xf4f986f6u, 0x7069e0ddu, 0x4f5d04a5u, 0xec979d4cu, 0x73bee491u},
     .state64 = {0x8dc98c6673788ea3u, 0xf5914b39edd055f4u, 0xf4f986f672dbea80u, 0x4f5d04a57069e0ddu},
     .next64 = {0x6b518b4ce04f0a10u, 0xb77c87de0b659ab2u, 0xd7f794afe9cfe6f9u, 0x7d528e94b49b04u},
     .next32 = {0xe04f0a10u, 0x6b518b4cu, 0xb659ab2u, 0xb77c87deu, 0xe9cfe6f9u},
     .random = {0x3fdad462d33813c2u, 0x3fe6ef90fbc16cb3u, 0x3feafef295fd39fcu, 0x3f5f54a3a52d2600u},
     .uniform = {0x3fe206a401ae53f8u, 0x4008bd1416fb06fcu, 0x4010aee1bf5d0d9cu},
     .normal = {0x4000895bfa7524a0u, 0x40035a1012ab3a09u, 0x40057150d58f0606u},
     .standard_normal = {0x3fcc9dd42dbcf6a1u, 0x3ff6586b27202d91u, 0x40022462c7dcbebeu, 0xbf77816cfedc0558u, 0x3fea611a6dd34478u,
       0x3fd641b7294226e4u},
     .permutation = {7, 8, 1, 5, 11,
       10, 3, 6, 4, 9,
       2, 0},
     .permutation_checksum = 0x1c6baec2c39a8u,
     .shuffled = {3, 3, -1, 5, 4611686018427387904,
       0, 11, -7},
     .normal_checksum = 0xcc6ac3784a14d51u,
     .random_checksum = 0xb931183d91ba764eu,
     .interleaved_checksum = 0xd901e62cd088684bu,
     .range_checksums = {0x4c7255u, 0x77ef5u, 0x43d0a8u, 0xffffffffffff2c63u, 0x78acf4175u,
       0x3d3fd3393212du, 0x5bbd010db9815u, 0x78ad6c96b6ad7u, 0x78ad6c97ab4e8u, 0x7b1841bf155a5u,
       0x18f737e26aae88u, 0x7ce3ebee294f5418u, 0x6fc4e45337e8620u, 0xdf89c8a6704c45cu, 0x4aee9d8e1dba890u,
       0x9bf13914ce025494u, 0x9bf13914ce119ea5u}},
    {.words = {0x1u, 0x2u, 0x3u, 0x4u, 0x5u,
       0x6u, 0x7u},
     .state32 = {0x57d6e06eu, 0x8bebfc36u, 0xa9f0fc7au, 0x2ed446e3u, 0xcb07f94fu,
       0x45f95784u, 0x119ad5e0u, 0x4cd5e102u, 0xe8cf29d7u, 0x27dacac7u},
     .state64 = {0x8bebfc3657d6e06eu, 0x2ed446e3a9f0fc7au, 0x45f95784cb07f94fu, 0x4cd5e102119ad5e0u},
     .next64 = {0xf5f421e36020653au, 0xc88715ec00b453a3u, 0xebe20ce5adbf439du, 0xed36bbab27274961u},
     .next32 = {0x6020653au, 0xf5f421e3u, 0xb453a3u, 0xc88715ecu, 0xadbf439du},
     .random = {0x3feebe843c6c040cu, 0x3fe910e2bd80168au, 0x3fed7c419cb5b7e8u, 0x3feda6d77564e4e9u},
     .uniform = {0x4014aa6c8032c44cu, 0x400d43e1d2b02fe6u, 0x40135405b6811366u},
     .normal = {0x3ffc8a53b5dcb2d1u, 0x3ffdb7cb96533125u, 0x3ffce66928158c49u},
     .standard_normal = {0xbfe7107c98eb57e5u, 0xbfde6d6581001b65u, 0xbfe4aa984a1b036cu, 0xbfe18a22336f7425u, 0xbfea5f1f4829284bu,
       0x3fdd09402dfdb311u},
     .permutation = {6, 7, 2, 0, 8,
       4, 9, 1, 5, 11,
       3, 10},
     .permutation_checksum = 0x1c639a797755eu,
     .shuffled = {-7, -1, 3, 4611686018427387904, 11,
       3, 5, 0},
     .normal_checksum = 0xfbee316f0d02dd67u,
     .random_checksum = 0x3e3175ad494444d6u,
     .interleaved_checksum = 0x942d895d7fe90e85u,
     .range_checksums = {0x4c7255u, 0x8750fu, 0x49f65eu, 0x3ed2du, 0x832152d3bu,
       0x4018b9fdc5d80u, 0x6022c1ed4086eu, 0x8321c978bebdeu, 0x8321c979b35efu, 0x81098ab14016du,
       0xd7205626ccba2bu, 0x7b241a05a50becdau, 0x2ac4da9042e4006au, 0x5589b52085cfc3c1u, 0xd71a723aa5e6a6cfu,
       0x2b136a410b97f8ceu, 0x2b136a410ba742dfu}},
};

// The 10000000 standard_normal draws of seed 7.
inline constexpr std::int64_t long_draws = 10000000;
inline constexpr std::uint64_t long_checksum = 0xf84158011a2165e0u;
inline constexpr std::uint64_t long_next64 = 0xe27d5d48cd4f4c0au;
inline constexpr std::int64_t long_first_word_in_wedge = 147194;
inline constexpr std::int64_t long_first_word_in_tail = 2469;
inline constexpr std::int64_t long_beyond_edge = 2484;
inline constexpr std::int64_t long_words_consumed = 10221059;

inline constexpr std::uint64_t width_checksum = 0x8052d695f7ad397au;
inline constexpr std::uint64_t density_checksum = 0x71b60441e815fbe1u;
inline constexpr std::uint64_t inside_checksum = 0xe1bf730d88073606u;

// log1p(-u) of the C library NumPy calls, at u = (start + i step) 2^-53, i < count.
struct LogRun {
  std::uint64_t start, step, count, checksum;
};
inline constexpr LogRun log_runs[] = {
    {0x0u, 0x100003039u, 1048576, 0x70ee9b887183096u}, {0x0u, 0x1u, 100, 0x32d48000000380eeu},
    {0x1u, 0x4001u, 20000, 0x6c5571bb815dcdb3u}, {0x100000000u, 0x10001u, 20000, 0x4e8da9ec0a7c1be2u},
    {0x94bc6a7ef9db2u, 0x80000001u, 20000, 0x49601a739782e95u}, {0xffff800000000u, 0x400000u, 16384, 0x85410e43a203a912u},
    {0x17fff800000000u, 0x400000u, 16384, 0x8541239859907846u}, {0x1ffffffffffc18u, 0x1u, 1000, 0x9090cebae11c3bcbu}};

}  // namespace numpy_random
