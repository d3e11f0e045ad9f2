import { type Static, Type } from 'typebox';
import type { Rule } from '../../settings/schema/check.ts';
import { type Problem, problemIf } from '../../settings/schema/problem.ts';
import { ALLOWED, section } from '../../settings/schema/schema.ts';
import { labelMap } from './object-names.ts';

const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4_BLOCK = `(${OCTET}\\.){3}${OCTET}/(3[0-2]|[12]?[0-9])`;
const GROUP = '[0-9a-f]{1,4}';
/** All eight groups, or fewer around one `::` (RFC 4291, section 2.2), without an IPv4 address at the end. */
const IPV6 = [
  `(${GROUP}:){7}${GROUP}`,
  ...[1, 2, 3, 4, 5, 6].map((groups) => `(${GROUP}:){1,${groups}}(:${GROUP}){1,${7 - groups}}`),
  `(${GROUP}:){1,7}:`,
  `:(:${GROUP}){1,7}`,
  '::',
].join('|');
const IPV6_BLOCK = `(${IPV6})/(12[0-8]|1[01][0-9]|[1-9]?[0-9])`;

const place = {
  cidr: Type.Optional(
    Type.String({
      pattern: `^(${IPV4_BLOCK}|${IPV6_BLOCK})$`,
      description:
        'Block of addresses, for what is outside of the cluster; not together with the others. Left out: any address.',
      [ALLOWED]: 'a block of addresses such as 10.0.0.0/8, 192.0.2.10/32 or 2001:db8::/32',
    }),
  ),
  namespace: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      maxLength: 63,
      description:
        "Namespace of the Pods. Left out: the consumer's own where podLabels are given, otherwise any place.",
      [ALLOWED]: 'the name of a namespace: at most 63 lower-case letters, digits and dashes',
    }),
  ),
  podLabels: Type.Optional(labelMap({ description: 'Labels of the Pods. Left out: all Pods of the namespace.' })),
};

const peer = Type.Object(place, { additionalProperties: false, description: 'Who may ask: addresses, or Pods.' });

const destination = (what: string, ports: string) =>
  Type.Array(
    Type.Object(
      {
        ...place,
        ports: Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), {
          default: [],
          uniqueItems: true,
          description: `Ports as the Pods or hosts there have them, not those of a Service. Left out: ${ports}.`,
        }),
      },
      { additionalProperties: false, description: 'A place: addresses, Pods, or only ports.' },
    ),
    { default: [{}], description: `Where ${what} may be. Left out: anywhere, at ${ports}.` },
  );

/** Who may talk to the Pods, and to whom they may talk. */
export const networkPolicy = Type.Object(
  {
    enabled: Type.Boolean({
      default: true,
      description: 'Whether there is a NetworkPolicy; false leaves all traffic to the policies of others.',
    }),
    ingress: Type.Array(peer, {
      default: [{ namespace: 'monitoring' }],
      description: 'Who may ask the HTTP interface: Prometheus above all. The kubelet, which probes, needs no rule.',
    }),
    egress: Type.Object(
      {
        dns: destination('name servers', '53'),
        brokers: destination('the brokers', 'the ports of application.kafka.brokers'),
        database: destination('PostgreSQL', '5432'),
        schemaRegistry: destination('the schema registry', 'the ports of application.schemaRegistry.url'),
        tokens: destination(
          'the servers that give tokens for logins at the brokers, the schema registry and PostgreSQL',
          "the ports of the token endpoints in application, or with aws-msk-iam and database.rdsIam 443, AWS's STS",
        ),
        others: Type.Array(
          Type.Object(
            {
              ...place,
              ports: Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), {
                minItems: 1,
                uniqueItems: true,
                description: 'Ports as the Pods or hosts there have them, not those of a Service.',
              }),
            },
            { additionalProperties: false, description: 'A place: addresses, Pods, or only ports.' },
          ),
          { default: [], description: 'Whatever else the Pods may reach. Left out: nothing.' },
        ),
      },
      section,
    ),
  },
  section,
);

/** A place in a NetworkPolicy: addresses, Pods, or any place. */
export type NetworkPlace = Static<typeof peer>;

interface NetworkPolicyPart {
  readonly networkPolicy: Static<typeof networkPolicy>;
}

/** The parts of an address, octets or groups, as one number. */
const joined = (parts: readonly string[], radix: number, bits: number): bigint =>
  parts.reduce((sum, part) => (sum << BigInt(bits)) + BigInt(Number.parseInt(part, radix)), 0n);

/** Whether the address of a block has bits behind its prefix: Kubernetes takes it, and warns that it is ambiguous. */
function hasBitsBehindPrefix(cidr: string): boolean {
  const [address = '', prefix] = cidr.split('/');
  if (!address.includes(':')) {
    return joined(address.split('.'), 10, 8) % 2n ** BigInt(32 - Number(prefix)) !== 0n;
  }
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const groups = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail];
  return joined(groups, 16, 16) % 2n ** BigInt(128 - Number(prefix)) !== 0n;
}

function placeProblems(path: string, { cidr, namespace, podLabels }: NetworkPlace): readonly Problem[] {
  const isAmbiguous = cidr !== undefined && hasBitsBehindPrefix(cidr);
  return [
    ...problemIf(cidr !== undefined && (namespace ?? podLabels) !== undefined, {
      path,
      message: 'names addresses and Pods at once, which Kubernetes refuses',
      allowed: 'cidr alone, or namespace and podLabels; two entries for both',
    }),
    ...problemIf(isAmbiguous, {
      path: `${path}.cidr`,
      message: 'is an address within a block: its bits go on behind the prefix',
      given: cidr,
      allowed: 'the first address of the block, such as 10.0.0.0/8; or /32 (IPv6: /128) for one address',
    }),
  ];
}

const placesAreOne = (path: string, read: (part: NetworkPolicyPart) => readonly NetworkPlace[]) => ({
  reads: [`${path}[]`],
  find: (part: NetworkPolicyPart) => read(part).flatMap((place, index) => placeProblems(`${path}[${index}]`, place)),
});

const askersAreNamed: Rule<NetworkPolicyPart> = {
  reads: ['networkPolicy.ingress[]'],
  find: ({ networkPolicy: { ingress } }) =>
    ingress.flatMap((place, index) =>
      Object.keys(place).length > 0
        ? []
        : [
            {
              path: `networkPolicy.ingress[${index}]`,
              message: 'names nobody',
              given: place,
              allowed: 'cidr, namespace or podLabels; cidr: 0.0.0.0/0 for everybody',
            },
          ],
    ),
};

/** What the places of the NetworkPolicy must be. */
export const NETWORK_RULES: readonly Rule<NetworkPolicyPart>[] = [
  placesAreOne('networkPolicy.ingress', ({ networkPolicy }) => networkPolicy.ingress),
  ...(['dns', 'brokers', 'database', 'schemaRegistry', 'tokens', 'others'] as const).map((name) =>
    placesAreOne(`networkPolicy.egress.${name}`, ({ networkPolicy }) => networkPolicy.egress[name]),
  ),
  askersAreNamed,
];
