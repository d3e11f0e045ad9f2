/** `npm run test:cluster`: what the manifests do in a real cluster. */
import { randomBytes } from 'node:crypto';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { imageReference } from '../deployment/sections/image.ts';
import { allWordsTaken } from './cluster/all-words.ts';
import { CheckResults } from './cluster/check-results.ts';
import { DRY_RUNS, dryRuns } from './cluster/dry-runs.ts';
import { KEDA_SCALING, kedaAbsence, scaledDown, scaledUp, steadyPods } from './cluster/keda-checks.ts';
import { Kubectl } from './cluster/kubectl.ts';
import { applied, appliedAgain, changeApplied, deleted, withoutDifference } from './cluster/manifest-checks.ts';
import { type ClusterOptions, readClusterRequest } from './cluster/options.ts';
import { autoscalerKept, gitWins, handedOver, takenBack, takenOver } from './cluster/ownership-checks.ts';
import {
  endpointsAnswer,
  podDeleted,
  podNames,
  podsScraped,
  prometheusRuns,
  rolledOut,
  rulesEvaluated,
} from './cluster/pod-checks.ts';
import {
  type BackingServices,
  eachRecordOnce,
  PARTITIONS,
  recordsFlow,
  startBackingServices,
} from './cluster/record-checks.ts';
import { keptReleases, releaseManifests, thereAndBack } from './cluster/release-checks.ts';
import {
  consumerDocument,
  consumerEndpoint,
  consumerWorkload,
  type Dependencies,
  loadImage,
  renderManifests,
  SECRET,
} from './cluster/tested-consumer.ts';
import { exitCodeOf } from './run/interruption.ts';
import type { RunFolder } from './run/run-folder.ts';
import { Screen } from './run/screen.ts';

const RESTRICTED = { 'pod-security.kubernetes.io/enforce': 'restricted' };

/** Addresses for the manifests where no Pod runs. */
const UNREACHABLE = {
  broker: 'kafka.invalid:9092',
  databasePort: 5432,
  databaseUrl: 'postgresql://database.invalid/orders',
};

interface ClusterTest {
  readonly run: RunFolder;
  readonly options: ClusterOptions;
  readonly results: CheckResults;
  readonly kubectl: Kubectl;
  readonly dependencies: Dependencies;
  readonly workload: CheckedWorkload;
  /** Only where Pods can run. */
  readonly services: BackingServices | undefined;
  /** Folder for `kubectl apply --server-side -f`. */
  readonly folder: string;
  /** The same with another log level. */
  readonly changed: string;
}

async function main(args: readonly string[]): Promise<number> {
  const request = readClusterRequest(args, process.env);
  if (request.kind === 'test') {
    return testCluster(request.options, new Screen(process.stdout));
  }
  process.stdout.write(request.stdout ?? '');
  process.stderr.write(request.stderr ?? '');
  return request.code;
}

const testCluster = (options: ClusterOptions, screen: Screen): Promise<number> =>
  exitCodeOf(screen, async (run) => {
    const results = new CheckResults(screen);
    await testManifests(await prepareTest(run, options, results, screen));
    screen.line(`${results.failures} failed, ${results.skipped} skipped`);
    return results.failures === 0;
  });

/**
 * Renders the manifests for a namespace of the test's own, which is removed in the end.
 *
 * @throws ExplainedError when no cluster answers, or Kafka or PostgreSQL does not start
 */
async function prepareTest(
  run: RunFolder,
  options: ClusterOptions,
  results: CheckResults,
  screen: Screen,
): Promise<ClusterTest> {
  const namespace = `stream-consumer-test-${randomBytes(4).toString('hex')}`;
  const kubectl = new Kubectl(namespace);
  const resources = await kubectl.text('api-resources', '--api-group=monitoring.coreos.com', '--output', 'name');
  const services =
    options.host === undefined || options.loadImage === undefined
      ? undefined
      : await startBackingServices(run, options.host, (text) => screen.line(text));
  const dependencies = {
    namespace,
    broker: services?.broker ?? UNREACHABLE.broker,
    databasePort: services === undefined ? UNREACHABLE.databasePort : Number(new URL(services.databaseUrl).port),
    hasOperator: resources.includes('servicemonitors'),
  };
  const document = consumerDocument(dependencies, 'info');
  const folder = await renderManifests(run, document);
  const changed = await renderManifests(run, consumerDocument(dependencies, 'debug'));
  const workload = consumerWorkload(document);
  run.beforeClose(async () => {
    await kubectl.run(['delete', 'namespace', namespace, '--ignore-not-found', '--wait=false']);
  });
  return { run, options, results, kubectl, dependencies, workload, services, folder, changed };
}

async function testManifests(test: ClusterTest): Promise<void> {
  const { results, kubectl, dependencies, services, folder } = test;
  await kubectl.apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: dependencies.namespace, labels: RESTRICTED },
  });
  await kubectl.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: SECRET, namespace: dependencies.namespace },
    stringData: { url: services?.databaseUrl ?? UNREACHABLE.databaseUrl },
  });
  if (!dependencies.hasOperator) {
    results.skip("the operator's custom resources", 'the cluster has no CRDs of the Prometheus Operator');
  }
  if (services !== undefined && !(await imageIsLoaded(test))) {
    return;
  }
  await results.check(`${DRY_RUNS} random consumers, dry run by the API server`, () =>
    dryRuns(test.run, kubectl, dependencies.namespace),
  );
  await results.check("one consumer with all words that are Kubernetes' own, too", () =>
    allWordsTaken(test.run, kubectl, dependencies),
  );
  await testReleases(test);
  const isApplied = await results.check('applied server-side, strictly, to a restricted namespace', () =>
    applied(kubectl, folder),
  );
  if (!isApplied) {
    return;
  }
  if (services === undefined) {
    results.skip('Pods, records, scrape, KEDA', 'not run: CLUSTER_LOAD_IMAGE and CLUSTER_HOST are needed for it');
    await testSecondApply(test);
    await results.check('one change applied', () => changeApplied(kubectl, folder, test.changed));
  } else {
    await testPods(test, services);
  }
  await results.check('deleted', () => deleted(kubectl, [folder, test.changed], SECRET));
  await testOwnership(test);
}

/** Before the tested consumer is there, which has the same names. */
async function testReleases({ run, results, kubectl, dependencies }: ClusterTest): Promise<void> {
  for (const version of keptReleases()) {
    const releases = await releaseManifests(run, version, dependencies);
    await results.check(`${version}, this version, and back`, () => thereAndBack(kubectl, releases));
    await results.check(`${version} deleted`, () => deleted(kubectl, [releases.before, releases.now], SECRET));
  }
}

function imageIsLoaded({ run, workload, options, results }: ClusterTest): Promise<boolean> {
  const { loadImage: command = '' } = options;
  return results.check('image loaded', () =>
    loadImage(run, imageReference(workload.file.image, workload.version), command),
  );
}

async function testSecondApply({ results, kubectl, folder }: ClusterTest): Promise<void> {
  await results.check('applied again: unchanged', () => appliedAgain(kubectl, folder));
  await results.check('kubectl diff', () => withoutDifference(kubectl, folder));
}

async function testPods(test: ClusterTest, services: BackingServices): Promise<void> {
  const { results, kubectl, workload, folder, changed } = test;
  const { workload: name } = workload.names;
  await services.producer.start();
  if (!(await results.check('Pods ready by their own probes', () => rolledOut(kubectl, name)))) {
    await services.producer.stop();
    return;
  }
  await testSecondApply(test);
  await results.check('records flow from Kafka to PostgreSQL', () => recordsFlow(services));
  await testInterfaces(test);
  await results.check('one change applied, under load', () => changeApplied(kubectl, folder, changed));
  await results.check('rolling update, under load', () => rolledOut(kubectl, name));
  const [pod = ''] = await podNames(kubectl, workload.selector);
  await results.check('kubectl delete pod, under load', () => podDeleted(kubectl, name, pod));
  await results.check('records flow after it', () => recordsFlow(services));
  await testKeda(test, services);
  await services.producer.stop();
  await results.check('each record once, over all of it', () => eachRecordOnce(services));
}

async function testInterfaces({ run, options, results, kubectl, dependencies, workload }: ClusterTest): Promise<void> {
  const pods = await podNames(kubectl, workload.selector);
  for (const [index, pod] of pods.entries()) {
    await results.check(`HTTP endpoints of Pod ${index + 1}, forwarded`, () =>
      endpointsAnswer(run, dependencies.namespace, pod, consumerEndpoint(workload)),
    );
  }
  const { scrape } = options;
  if (scrape === undefined || !dependencies.hasOperator) {
    results.skip('scraped by a Prometheus', 'CLUSTER_SCRAPE and the operator are needed for it');
    return;
  }
  if (await results.check('a Prometheus', () => prometheusRuns(kubectl, dependencies.namespace, scrape))) {
    await results.check('it scrapes the Pods by the ServiceMonitor', () => podsScraped(pods));
    await results.check('it computes the alerts of the PrometheusRule', () => rulesEvaluated());
  }
}

/** Under load all along: the check of the records comes after it. */
async function testKeda(test: ClusterTest, { localDatabaseUrl }: BackingServices): Promise<void> {
  const { results, kubectl, dependencies, workload, changed } = test;
  const absence = await kedaAbsence(kubectl);
  if (absence !== undefined) {
    results.skip('scaled by KEDA', absence);
    return;
  }
  const deployment = workload.names.workload;
  const scaled = { kubectl, namespace: dependencies.namespace, deployment };
  const document = { ...consumerDocument(dependencies, 'debug'), ...KEDA_SCALING };
  if (
    await results.check('from replicas to KEDA, by the command that synth prints', () =>
      handedOver(kubectl, changed, document, deployment),
    )
  ) {
    await results.check('KEDA: no Pod more at a steady rate that one keeps up with', () => steadyPods(scaled));
    await results.check('KEDA: Pods are added for real lag', () => scaledUp(scaled, localDatabaseUrl));
    await results.check('KEDA: they are taken away when it is written', () => scaledDown(scaled));
  }
}

/** What a release before the tested one lacks, and Kubernetes then sets in its own way. */
const FIELD_OF_LATER = '/spec/template/spec/containers/0/terminationMessagePolicy';

async function testOwnership({ run, results, kubectl, dependencies, workload, folder }: ClusterTest): Promise<void> {
  const { namespace } = dependencies;
  const deployment = workload.names.workload;
  const document = consumerDocument(dependencies, 'info');
  const patches = [{ kind: 'Deployment', operations: [{ op: 'remove', path: FIELD_OF_LATER }] }];
  const before = await renderManifests(run, { ...document, patches });
  const isTakenOver = await results.check('taken over after a client-side apply, as documented', () =>
    takenOver(run, kubectl, before, folder),
  );
  if (!isTakenOver) {
    return;
  }
  await results.check('a number of Pods set by hand, and git wins, as documented', () =>
    gitWins(run, kubectl, folder, deployment),
  );
  const scaling = { partitions: PARTITIONS, scaling: { hpa: { cpuPercent: 75 } } };
  await results.check('from replicas to an HPA, by the command that synth prints', () =>
    handedOver(kubectl, folder, { ...document, ...scaling }, deployment),
  );
  await results.check('an apply keeps the number of Pods that the autoscaler set', () =>
    autoscalerKept(kubectl, folder, deployment),
  );
  await results.check('from the HPA back to replicas, as documented', () =>
    takenBack(run, kubectl, folder, { namespace, deployment, document }),
  );
}

process.exit(await main(process.argv.slice(2)));
