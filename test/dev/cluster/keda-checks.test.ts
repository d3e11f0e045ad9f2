import { expect, test } from '@jest/globals';
import { kedaAbsence, keptUpLag, quantity } from '../../../dev/cluster/keda-checks.ts';

/** A cluster that has these kinds of KEDA, and serves external metrics or does not. */
const cluster = (kinds: string, servesMetrics: boolean): Parameters<typeof kedaAbsence>[0] => ({
  text: async () => kinds,
  run: async () => ({ code: servesMetrics ? 0 : 1, stdout: '', stderr: '' }),
});

test('without the CRDs of KEDA, or without a KEDA behind them, its case is not run, and the reason is reported', async () => {
  expect(await kedaAbsence(cluster('', false))).toBe('not run: the cluster has no CRDs of KEDA');
  expect(await kedaAbsence(cluster('scaledobjects.keda.sh', false))).toMatch(/^not run: .*external\.metrics\.k8s\.io$/);
  expect(await kedaAbsence(cluster('scaledobjects.keda.sh\n', true))).toBeUndefined();
});

test.each([
  ['0', 0],
  ['417', 417],
  ['1500m', 1.5],
  ['2k', 2_000],
  ['3M', 3_000_000],
])('the quantity %s is read as Kubernetes writes it', (text, value) => {
  expect(quantity(text)).toBe(value);
});

test('a rate that is kept up with fails when KEDA sees most of the time more than the records of a second', () => {
  expect(keptUpLag([0, 150, 2_500])).toBe(150);
  expect(() => keptUpLag([250, 1_300, 2_500])).toThrow('KEDA saw a lag of 250, 1300, 2500');
  expect(() => keptUpLag([])).toThrow('KEDA saw a lag of nothing');
});
