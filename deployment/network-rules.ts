import type { Rule } from '../settings/check.ts';
import type { Problem } from '../settings/problem.ts';
import type { ConsumerFile } from './consumer-file.ts';
import type { NetworkPlace } from './network-policy.ts';

function placeProblems(path: string, { cidr, namespace, podLabels }: NetworkPlace): Problem[] {
  return cidr !== undefined && (namespace ?? podLabels) !== undefined
    ? [
        {
          path,
          message: 'names addresses and Pods at once, which Kubernetes refuses',
          allowed: 'cidr alone, or namespace and podLabels; two entries for both',
        },
      ]
    : [];
}

const placesAreOne: Rule<ConsumerFile> = {
  reads: ['networkPolicy'],
  find: ({ networkPolicy: { ingress, egress } }) => [
    ...ingress.flatMap((place, index) => placeProblems(`networkPolicy.ingress[${index}]`, place)),
    ...(['dns', 'brokers', 'database', 'others'] as const).flatMap((name) =>
      egress[name].flatMap((place, index) => placeProblems(`networkPolicy.egress.${name}[${index}]`, place)),
    ),
  ],
};

const askersAreNamed: Rule<ConsumerFile> = {
  reads: ['networkPolicy.ingress'],
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
export const NETWORK_RULES: readonly Rule<ConsumerFile>[] = [placesAreOne, askersAreNamed];
