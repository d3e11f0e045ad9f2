/** Contents that frames of the program `zstd` 1.5 are kept of: Node packs by zstd from 22.15 on only. */
export const ZSTD_CONTENT = {
  /** Streamed, so its size is not in the frame, and without a checksum, as Java's producers write it. */
  java: (): Buffer => orders(),
  /** In one segment, with its size and a checksum. */
  checked: (): Buffer => orders(),
  /** Of the level with the largest window that any decoder has to read. */
  large: (): Buffer => Buffer.alloc(9_000_000, 'abcdefgh'),
};

const orders = (): Buffer =>
  Buffer.from(
    Array.from({ length: 120 }, (_, id) => JSON.stringify({ id, customer: `customer ${(id * 7_919) % 1_000}` })).join(
      '\n',
    ),
  );

const FRAMES: Readonly<Record<keyof typeof ZSTD_CONTENT, readonly string[]>> = {
  java: [
    'KLUv/QBYHQ4AhhYzGJC50AGrZhW16FNVzxEpk0wpyQ3Z/ctBCTMAJwAoAESZrp7Mxkff0FqTjdW2S4lJZN+Ny55P75NIUqsVFodhSBwK',
    'AgYIDgwQFAfESBwABA4JAaZ7yC6zW2u91CzbueV+Om+JUiRnrFDIUVJ50yO8jKRIXmLhZFIiATW6kEksiWnMaT5/6VL/Z6+c/DrVuccz',
    '/IymaF7j6UbEgyZ66toyHg+Lw4b1zEm2b8wyyLGOVcc9PGP8GI1RY1RTXYnUYBFrWnXJ1F51OpGLSBsFgO+oUYh7YX8DcJOCUuURKAQR',
    'GRnhHXwDGVa4DoZ9U+fCH9exsG/qVPjjOhT2TZ0J5wcJh/+YCT2nooJ1ZnRHZ1BpNJxy2J+Zg1I+HilpGFqREsqBBUobhrMcnqSwroVV',
    '7cGl1kTIhidEVmfbl2uB01whtAvIxR6Urz+r07VljfSE2ugJteHU0ARvyEB1XcsXkQqkdoGTDW1kls6qrmuD0x5BaFXoQblY+BnJaahT',
    'MMlayQm10RNqo6/WwkyyrWn+ai81+bQEaEXPhjArlw1BVo0VsiMZQxNrYHUNW2FdbF1ONXyFdbF1sfUWm5ZYMBJBbUtXAQ==',
  ],
  checked: [
    'KLUv/WTYD9UNABbXMxiQudABq2YVtehTVc8RKZNMKckN2f3LQQk0ACgAKQAlQpTp6slsfPQNrTXZWG27lJhE9t247Pn0PokktVphcRiG',
    'xKEgYIDgwABBcUCMxAFA4JAQlvG46R6yy+zWWi81y3ZuuZ/OW6IUyRkrFHKUVN70CC8jKZKXWDiZBOQi0kY1upBJLIlpzGk+f+lS/2ev',
    'nPw61bnHM/yMpmhe4+lGxIMmeuo6i8OGayfemNHsJNs3ZhnkWMeq4x6eMX6MxqgxqqmuRGqwiDWtumRqrzqdAoDvqEGEe2F/A3CTglLl',
    'ESgEEVkR4R3dARwyfKRTrhNAo7CKQZywqEvCGCpmhOOprHCdmroTGajkh1Ma+zNiKmXmJCWGoU3aUHosKGl4nKXwZKq7FoZOh0ttdYAN',
    'qaqMzsYs1grTmkBoVZE6HapPPguIbLY1ZdSW0dlEa9XQBC/IgGZYaweULFAb0tWGMjJjZ2nn2gJppwhaqDxYtgk9I1QakhSI/NpopOoy',
    'asvoqzUyQ61r2krWrwYmrSJa2bMgM4plS8nKWENWxGNAYg1YX5a91r3WTTTDN1j3Wvdab69pieUiEdS2dBWnb5hI',
  ],
  large: [
    'KLUv/QBohAAAQGFiY2RlZmdoAQD1//PLBUQAAAABAP3/ywsQRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85',
    'AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkA',
    'AkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQAC',
    'RAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJE',
    'AAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQA',
    'AAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAA',
    'AAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAA',
    'AQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAAB',
    'AP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA',
    '/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRAAAAAEA/f85AAJEAAAAAQD9/zkAAkQAAAABAP3/OQACRQAAAAEAPVQ5AAI=',
  ],
};

/** The frame of a content. */
export const zstdFrame = (name: keyof typeof ZSTD_CONTENT): Buffer => Buffer.from(FRAMES[name].join(''), 'base64');
