import type { TestCertificate } from './test-certificate.ts';

const BAG = 'Bag Attributes\n    friendlyName: orders\n    localKeyID: 92 4F 5C 85 22 95 C7 0E\n';

/** Certificate and key in one file, as `openssl pkcs12 -nodes` writes them: with the attributes of each bag before its block. */
export const pkcs12Text = ({ cert, key }: TestCertificate, authority = ''): string =>
  `${BAG}subject=CN = alice\nissuer=CN = test authority\n${cert.trim()}\n${authority && `${BAG}${authority.trim()}\n`}` +
  `${BAG}Key Attributes: <No Attributes>\n${key.trim()}\nthe end\n`;
