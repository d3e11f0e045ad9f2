/** The cdk8s app: renders consumer.yaml and its environments, and puts the result into dist/ when all of it is valid. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, YamlOutputType } from 'cdk8s';
import { ConsumerChart } from './charts/consumer-chart.ts';
import type { CheckedConsumer } from './contract/check-consumer-file.ts';
import { describeProblem, type Problem } from './contract/problem.ts';
import { MonitoringChart } from './monitoring/monitoring-chart.ts';
import { prometheusFiles } from './monitoring/prometheus-files.ts';
import { checkedEnvironments } from './synthesis/checked-environment.ts';
import { DIST_FOLDER, outputFolder } from './synthesis/output-folder.ts';
import { publish } from './synthesis/publish.ts';
import { writtenFiles } from './synthesis/written-files.ts';

const folder = process.cwd();
const { version } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { version: string };

/** Flat charts, one file each: the files' names and their order stay what they are. */
function renderManifests(outdir: string, consumer: CheckedConsumer): void {
  const app = new App({ outdir, yamlOutputType: YamlOutputType.FILE_PER_CHART });
  new ConsumerChart(app, 'consumer', { consumer, version });
  if (consumer.file.monitoring.customResources) {
    new MonitoringChart(app, 'monitoring', { consumer, version });
  }
  app.synth();
}

function renderPrometheusFiles(outdir: string, consumer: CheckedConsumer): void {
  mkdirSync(outdir, { recursive: true });
  for (const [name, text] of prometheusFiles(consumer, version)) {
    writeFileSync(join(outdir, name), text);
  }
}

function refuse(problems: readonly Problem[]): void {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  console.error(`Nothing was synthesized, ${DIST_FOLDER}/ is as it was: ${count}\n`);
  console.error(problems.map(describeProblem).join('\n'));
  process.exitCode = 1;
}

/** The CLI takes the app's standard output for itself. */
const say = process.env['CDK8S_OUTDIR'] === undefined ? console.log : console.error;

function synthesize(): void {
  const checked = checkedEnvironments(folder);
  if (!checked.ok) {
    refuse(checked.problems);
    return;
  }
  const output = outputFolder(folder, process.env['CDK8S_OUTDIR']);
  if (output.isPublished) {
    rmSync(output.path, { recursive: true, force: true });
  }
  for (const { folder: name, consumer } of checked.value) {
    renderManifests(join(output.path, name), consumer);
    renderPrometheusFiles(join(output.path, name, 'prometheus'), consumer);
  }
  if (output.isPublished) {
    const dist = join(folder, DIST_FOLDER);
    publish(output.path, dist);
    say(writtenFiles(dist, folder).join('\n'));
  }
}

synthesize();
