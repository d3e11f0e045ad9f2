import { describe, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { dashboardFiles, GrafanaChart } from '../../../monitoring/dashboards/grafana-files.ts';
import { exampleWorkload } from '../../charts/example-consumer.ts';
import type { Manifest } from '../../charts/rendered-consumer.ts';
import { manifestProblems } from '../../manifests/manifest-problems.ts';

describe('the ConfigMap', () => {
  const configMap = (changes: object = {}): Manifest => {
    const [manifest, ...more] = new GrafanaChart(new App(), 'grafana', {
      workloads: [exampleWorkload(changes)],
    }).toJson();
    expect(more).toEqual([]);
    return manifest as Manifest;
  };

  test('holds the bytes of the files, and is one that an API server takes', () => {
    const manifest = configMap();
    expect(manifest['data']).toEqual(Object.fromEntries(dashboardFiles([exampleWorkload()])));
    expect(manifestProblems(manifest)).toEqual([]);
    expect(manifest.metadata).toMatchObject({ name: 'orders-consumer-dashboards', namespace: 'stream-consumer' });
  });

  test('fits into the annotation in which kubectl apply keeps it', () => {
    expect(JSON.stringify(configMap()).length).toBeLessThan(262_144 * 0.6);
  });

  test("is found by Grafana's sidecar, by its usual label or by the one in consumer.yaml", () => {
    expect(configMap().metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    const own = configMap({
      monitoring: { dashboards: { labels: { dashboards: 'yes' }, annotations: { grafana_folder: 'Streaming' } } },
    });
    expect(own.metadata).toMatchObject({ annotations: { grafana_folder: 'Streaming' } });
    expect(own.metadata.labels).toMatchObject({ dashboards: 'yes', 'app.kubernetes.io/instance': 'orders-consumer' });
    expect(own.metadata.labels).not.toHaveProperty('grafana_dashboard');
  });
});
