/** The cdk8s app: renders consumer.yaml and its environments, and puts the result into dist/ when all of it is valid. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { App, YamlOutputType } from 'cdk8s';
import { ConsumerChart } from './charts/consumer-chart.ts';
import type { CheckedConsumer } from './contract/check-consumer-file.ts';
import { describeProblem, type Problem } from './contract/problem.ts';
import { workload } from './contract/workload.ts';
import { MonitoringChart } from './monitoring/monitoring-chart.ts';
import { prometheusFiles } from './monitoring/prometheus-files.ts';
import { DIST_FOLDER } from './synthesis/output-folder.ts';
import { synthesize } from './synthesis/synthesize.ts';

const HELP = `Checks consumer.yaml and environments/, renders them, and replaces dist/ when all of it is valid.

  npm run synth        or, through the CLI: npx cdk8s synth [-o FOLDER] [-p]

dist/ holds what consumer.yaml says, dist/NAME/ what environments/NAME.yaml makes of it. Apply it with: kubectl apply -f dist
Exit code 1: something is wrong, all of it was printed, and dist/ is as it was.`;

/** Flat charts, one file each: the files' names and their order stay what they are. */
function renderManifests(outdir: string, consumer: CheckedConsumer): void {
  const app = new App({ outdir, yamlOutputType: YamlOutputType.FILE_PER_CHART });
  const { consumer: watched } = new ConsumerChart(app, 'consumer', { consumer });
  if (consumer.file.monitoring.customResources) {
    new MonitoringChart(app, 'monitoring', { consumer: watched });
  }
  app.synth();
}

function renderPrometheusFiles(outdir: string, consumer: CheckedConsumer): void {
  mkdirSync(outdir, { recursive: true });
  for (const [name, text] of prometheusFiles(workload(consumer))) {
    writeFileSync(join(outdir, name), text);
  }
}

function refuse(problems: readonly Problem[]): void {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  console.error(`Nothing was synthesized, ${DIST_FOLDER}/ is as it was: ${count}\n`);
  console.error(problems.map(describeProblem).join('\n'));
  process.exitCode = 1;
}

/** Set by the CLI, which also takes the app's standard output for itself. */
const outdir = process.env['CDK8S_OUTDIR'];
const say = outdir === undefined ? console.log : console.error;

function run(): void {
  if (parseArgs({ options: { help: { type: 'boolean', short: 'h' } } }).values.help === true) {
    say(HELP);
    return;
  }
  const synthesized = synthesize({
    folder: process.cwd(),
    outdir,
    render: (folder, consumer) => {
      renderManifests(folder, consumer);
      renderPrometheusFiles(join(folder, 'prometheus'), consumer);
    },
  });
  if (synthesized.ok) {
    say(synthesized.value.join('\n'));
  } else {
    refuse(synthesized.problems);
  }
}

try {
  run();
} catch (error) {
  console.error(`Nothing was synthesized: ${(error as Error).message}`);
  process.exitCode = 1;
}
