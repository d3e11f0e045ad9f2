/**
 * The cdk8s app: renders consumer.yaml and its environments, and puts the result into dist/ when all of it is valid.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, YamlOutputType } from 'cdk8s';
import { ConsumerChart, SharedNamespacesChart } from './charts/consumer-chart.ts';
import { type CheckedConsumer, withoutNamespace } from './deployment/check-consumer.ts';
import { type CheckedWorkload, checkedWorkload } from './deployment/checked-workload.ts';
import { dashboardFiles, GrafanaChart } from './monitoring/dashboards/grafana-files.ts';
import { prometheusFiles } from './monitoring/prometheus-files.ts';
import { MonitoringChart } from './monitoring/stream-consumer-monitoring.ts';
import type { CheckedEnvironment } from './synthesis/checked-environment.ts';
import { commandLine, isDiff, runCommand } from './synthesis/command-line.ts';
import { GRAFANA_FOLDER, PROMETHEUS_FOLDER } from './synthesis/dist-folder.ts';

/** kubectl takes files by name, and this one comes before any consumer's. */
const NAMESPACES_FILE = '00-namespaces';

/** @param suffix of the files' names, which distinguishes the consumers of a list */
function addCharts(app: App, consumer: CheckedConsumer, suffix: string): void {
  const { consumer: watched } = new ConsumerChart(app, `consumer${suffix}`, { consumer });
  if (consumer.file.monitoring.customResources) {
    new MonitoringChart(app, `monitoring${suffix}`, { consumer: watched });
  }
}

/** Flat charts, one file each: the files' names and their order stay what they are. */
function renderManifests(outdir: string, { consumers, isList }: CheckedEnvironment): void {
  const app = new App({ outdir, yamlOutputType: YamlOutputType.FILE_PER_CHART });
  if (isList && consumers.some(({ file }) => file.namespace.create)) {
    new SharedNamespacesChart(app, NAMESPACES_FILE, { consumers });
  }
  for (const consumer of consumers) {
    addCharts(app, isList ? withoutNamespace(consumer) : consumer, isList ? `-${consumer.file.name}` : '');
  }
  const [first, ...more] = shownConsumers(consumers);
  if (first !== undefined) {
    new GrafanaChart(app, 'grafana', { workloads: [first, ...more] });
  }
  app.synth();
}

/** Those that are in the dashboards of their environment. */
const shownConsumers = (consumers: readonly CheckedConsumer[]): CheckedWorkload[] =>
  consumers.filter(({ file }) => file.monitoring.dashboards.enabled).map(checkedWorkload);

function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) {
    writeFileSync(join(folder, name), text);
  }
}

/** What is no manifest. */
function renderFiles(outdir: string, { consumers, isList }: CheckedEnvironment): void {
  for (const consumer of consumers) {
    const folder = join(outdir, PROMETHEUS_FOLDER, isList ? consumer.file.name : '');
    writeFiles(folder, prometheusFiles(checkedWorkload(consumer)));
  }
  const [first, ...more] = shownConsumers(consumers);
  if (first !== undefined) {
    writeFiles(join(outdir, GRAFANA_FOLDER), dashboardFiles([first, ...more]));
  }
}

const args = process.argv.slice(2);

/** Set by the CLI, which also takes the app's standard output for itself. */
const outdir = process.env['CDK8S_OUTDIR'];

try {
  process.exitCode = runCommand(commandLine(args), {
    folder: process.cwd(),
    outdir,
    render: (folder, environment) => {
      renderManifests(folder, environment);
      renderFiles(folder, environment);
    },
    say: outdir === undefined ? console.log : console.error,
    complain: console.error,
    hasColours: process.stdout.isTTY && !process.env['NO_COLOR'],
  });
} catch (error) {
  console.error(`Nothing was ${isDiff(args) ? 'compared' : 'synthesized'}: ${(error as Error).message}`);
  process.exitCode = isDiff(args) ? 2 : 1;
}
