import { expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import fc from 'fast-check';
import { ConsumerChart } from '../../charts/consumer-chart.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { checkedWorkload } from '../../deployment/checked-workload.ts';
import { consumerPath } from '../../deployment/sections/application.ts';
import { anyConsumerFile } from '../../dev/cluster/consumer-file-arbitrary.ts';
import { GrafanaChart } from '../../monitoring/dashboards/grafana-files.ts';
import { MonitoringChart } from '../../monitoring/stream-consumer-monitoring.ts';
import { describeProblem } from '../../settings/schema/problem.ts';
import { objectTitle } from '../../synthesis/manifest.ts';
import { podSpecs, restrictedViolations } from '../charts/pod-security.ts';
import type { Manifest } from '../charts/rendered-consumer.ts';
import { longTest } from '../integration/stack/long-test.ts';
import { type Mutation, mutationsOf } from './consumer-file-mutations.ts';
import { manifestProblems } from './manifest-problems.ts';

function render(document: unknown): Manifest[] {
  const checked = checkConsumerFile(document);
  if (!checked.ok) {
    throw new Error(checked.problems.map(describeProblem).join('\n'));
  }
  const app = new App();
  const chart = new ConsumerChart(app, 'consumer', { consumer: checked.value });
  const monitoring = new MonitoringChart(app, 'monitoring', { consumer: chart.consumer });
  const grafana = new GrafanaChart(app, 'grafana', { workloads: [checkedWorkload(checked.value)] });
  return [chart, monitoring, grafana].flatMap((each) => each.toJson() as Manifest[]);
}

const RIGHT = 'any right consumer.yaml gives valid, restricted, unique and always the same objects';
const WRONG = 'any single mistake in a right consumer.yaml is refused at its place';
/** The same files each time: a rare one is found by the long test, not by a change that has nothing to do with it. */
const RUNS = { numRuns: 8, seed: 1 };
const LONG_RUNS = { numRuns: 600 };

const rightFiles = fc.property(anyConsumerFile, (document) => {
  const manifests = render(document);
  expect(manifests.flatMap(manifestProblems)).toEqual([]);
  expect(manifests.flatMap(podSpecs).flatMap(restrictedViolations)).toEqual([]);
  expect(new Set(manifests.map(objectTitle)).size).toBe(manifests.length);
  expect(render(structuredClone(document))).toEqual(manifests);
});

const mistakes = fc.array(fc.nat(), { minLength: 15, maxLength: 15 });
const wrongFiles = fc.property(anyConsumerFile, mistakes, (document, choices) => {
  const mutations = mutationsOf(document);
  for (const choice of choices) {
    const { what, path, apply } = mutations[choice % mutations.length] as Mutation;
    const checked = checkConsumerFile(apply(document));
    const places = checked.ok ? [] : checked.problems.map((problem) => problem.path);
    const told = consumerPath(path);
    const isRefused = places.some((place) => place === told || place.startsWith(`${told}.`));
    expect({ what, path, isRefused }).toEqual({ what, path, isRefused: true });
  }
});

test(RIGHT, () => fc.assert(rightFiles, RUNS));
test(WRONG, () => fc.assert(wrongFiles, RUNS));
longTest(`${RIGHT}, ever other files`, async () => fc.assert(rightFiles, LONG_RUNS));
longTest(`${WRONG}, ever other files`, async () => fc.assert(wrongFiles, LONG_RUNS));
