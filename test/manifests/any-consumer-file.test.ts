import { expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import fc from 'fast-check';
import { ConsumerChart } from '../../charts/consumer-chart.ts';
import { consumerPath } from '../../deployment/application.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { checkedWorkload } from '../../deployment/checked-workload.ts';
import { anyConsumerFile } from '../../dev/cluster/consumer-file-arbitrary.ts';
import { GrafanaChart } from '../../monitoring/dashboards/grafana-files.ts';
import { MonitoringChart } from '../../monitoring/stream-consumer-monitoring.ts';
import { describeProblem } from '../../settings/problem.ts';
import { objectTitle } from '../../synthesis/manifest.ts';
import { podSpecs, restrictedViolations } from '../charts/pod-security.ts';
import type { Manifest } from '../charts/rendered-consumer.ts';
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

test('any right consumer.yaml gives valid, restricted, unique and always the same objects', () => {
  fc.assert(
    fc.property(anyConsumerFile, (document) => {
      const manifests = render(document);
      expect(manifests.flatMap(manifestProblems)).toEqual([]);
      expect(manifests.flatMap(podSpecs).flatMap(restrictedViolations)).toEqual([]);
      expect(new Set(manifests.map(objectTitle)).size).toBe(manifests.length);
      expect(render(structuredClone(document))).toEqual(manifests);
    }),
    { numRuns: 20 },
  );
});

test('any single mistake in a right consumer.yaml is refused at its place', () => {
  fc.assert(
    fc.property(anyConsumerFile, fc.array(fc.nat(), { minLength: 15, maxLength: 15 }), (document, choices) => {
      const mutations = mutationsOf(document);
      for (const choice of choices) {
        const { what, path, apply } = mutations[choice % mutations.length] as Mutation;
        const checked = checkConsumerFile(apply(document));
        const places = checked.ok ? [] : checked.problems.map((problem) => problem.path);
        const told = consumerPath(path);
        const isRefused = places.some((place) => place === told || place.startsWith(`${told}.`));
        expect({ what, path, isRefused }).toEqual({ what, path, isRefused: true });
      }
    }),
    { numRuns: 20 },
  );
});
