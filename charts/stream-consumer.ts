import { ApiObject, JsonPatch } from 'cdk8s';
import { Construct } from 'constructs';
import { consumerOfProps } from '../deployment/check-consumer.ts';
import { type CheckedWorkload, checkedWorkload } from '../deployment/checked-workload.ts';
import { addCommonMetadata } from '../deployment/common-metadata.ts';
import type { StreamConsumerProps } from '../deployment/generated/props.ts';
import { InvalidConsumerError } from '../deployment/invalid-consumer-error.ts';
import { applyPatches } from '../deployment/patched-objects.ts';
import { isOfMonitoring } from '../deployment/sections/patches.ts';
import { replicaRange } from '../deployment/sections/scaling.ts';
import type { Workload } from '../deployment/workload.ts';
import { type Problem, problemIf } from '../settings/schema/problem.ts';
import { hasBrokerAccess, horizontalPodAutoscaler, scaledObject, triggerAuthentication } from './autoscaling.ts';
import { configMap } from './config-map.ts';
import { deployment, disruptionBudget, FEWEST_REPLICAS_FOR_BUDGET, service, serviceAccount } from './deployment.ts';
import { extraObjects } from './extra-objects.ts';
import { namespace } from './namespace.ts';
import { networkPolicy, schemaJobNetworkPolicy } from './network-policy.ts';
import { schemaJob } from './schema-job.ts';
import { secretObjects } from './secrets.ts';

/** The Kubernetes API takes a second object of one kind, name and namespace for a change of the first. */
function namesakeProblems(consumer: StreamConsumer): string[] {
  const { names, namespace } = consumer.workload;
  const first = consumer.node.root.node
    .findAll()
    .filter((each) => each instanceof StreamConsumer)
    // A construct whose props were refused stays in the tree, without a workload.
    .find(({ workload }) => workload?.names.workload === names.workload && workload.namespace === namespace);
  if (first === undefined || first === consumer) {
    return [];
  }
  const problem: Problem = {
    path: 'name',
    message: `is also that of StreamConsumer ${first.node.path} in the namespace ${namespace}, and in a cluster one would overwrite the other`,
    given: names.workload,
    allowed: 'another name or another namespace; consumers of two clusters may share both in two apps',
  };
  return [new InvalidConsumerError(`StreamConsumer ${consumer.node.path}`, [problem]).message];
}

const objectsBelow = (construct: Construct): ApiObject[] =>
  construct.node.findAll().filter((each): each is ApiObject => ApiObject.isApiObject(each));

/** Patches of objects that `StreamConsumerMonitoring` has, where the app has none. */
function unusedPatchProblems(consumer: StreamConsumer, { file, namespace }: CheckedWorkload): string[] {
  const all = objectsBelow(consumer.node.root as Construct).filter(({ metadata }) => metadata.namespace === namespace);
  const problems = file.patches.flatMap((patch, index) =>
    problemIf(isOfMonitoring(patch) && !all.some((each) => each.kind === patch.kind), {
      path: `patches[${index}].kind`,
      message: 'matches no object: the app has no StreamConsumerMonitoring that makes one',
      given: patch.kind,
      allowed: 'a StreamConsumerMonitoring of this consumer in the app, or another kind',
    }),
  );
  return problems.length === 0
    ? []
    : [new InvalidConsumerError(`StreamConsumer ${consumer.node.path}`, problems).message];
}

/**
 * One consumer on Kubernetes: it reads topics of Kafka and writes every record once into PostgreSQL.
 *
 * It may be in any chart, and as often as there are consumers; all objects derive their names from `props.name`, so
 * two of one namespace need two names: an app with two of one name and namespace is refused when it is synthesized. The
 * objects are the plain types of Kubernetes: they hold what is documented here and nothing that a construct adds
 * unasked. What the props have no word for is one patch away, for instance
 * `consumer.deployment.addJsonPatch(JsonPatch.add('/spec/template/spec/dnsPolicy', 'Default'))`.
 */
export class StreamConsumer extends Construct {
  /** What objects around these have to know: names, labels, selector, and where the HTTP interface is. */
  readonly workload: Workload;
  /** The Namespace; `undefined` when `namespace.create` is false. */
  readonly namespace: ApiObject | undefined;
  /** The ServiceAccount of the Pods, without a token; `undefined` when `serviceAccount.create` is false. */
  readonly serviceAccount: ApiObject | undefined;
  /** The ConfigMap with application.yml; its name changes with its content. */
  readonly configMap: ApiObject;
  /** The Deployment. */
  readonly deployment: ApiObject;
  /** The Service in front of the HTTP interface. */
  readonly service: ApiObject;
  /** The PodDisruptionBudget; `undefined` where there is never more than one replica. */
  readonly disruptionBudget: ApiObject | undefined;
  /** Who may talk to the Pods and to whom they may; `undefined` when `networkPolicy.enabled` is false. */
  readonly networkPolicy: ApiObject | undefined;
  /** The ScaledObject of KEDA or the HorizontalPodAutoscaler; `undefined` where `replicas` counts. */
  readonly autoscaler: ApiObject | undefined;
  /** What KEDA logs in at the brokers with; `undefined` where it is not used, or where brokers ask for nothing. */
  readonly triggerAuthentication: ApiObject | undefined;
  /** ExternalSecrets and SealedSecrets, for those Secrets that the props give a source for. */
  readonly secrets: readonly ApiObject[];
  /** The Job that migrates; its name changes with its content. `undefined` unless `database.migrate` is `job`. */
  readonly schemaJob: ApiObject | undefined;
  /** Who may talk to the Job's Pods; `undefined` where there is no Job, or `networkPolicy.enabled` is false. */
  readonly schemaJobNetworkPolicy: ApiObject | undefined;
  /** The objects of `extraObjects`, in their order. */
  readonly extraObjects: readonly ApiObject[];

  /**
   * @param scope the chart, or a construct in one
   * @param id unique in the scope; no object's name depends on it
   * @throws InvalidConsumerError when the props are wrong, with all problems at once and the code `INVALID_CONSUMER`.
   * Right props fail, too, where a patch matches no object or fails, or an extra object is one of ours
   */
  constructor(scope: Construct, id: string, props: StreamConsumerProps) {
    super(scope, id);
    const subject = `StreamConsumer ${this.node.path}`;
    const own = checkedWorkload(consumerOfProps(subject, props));
    this.workload = own;
    this.node.addValidation({ validate: () => [...namesakeProblems(this), ...unusedPatchProblems(this, own)] });
    this.namespace = own.file.namespace.create ? namespace(this, own) : undefined;
    this.serviceAccount = own.file.serviceAccount.create ? serviceAccount(this, own) : undefined;
    this.configMap = configMap(this, own);
    this.secrets = secretObjects(this, own);
    this.schemaJob = schemaJob(this, own, this.configMap);
    this.deployment = deployment(this, own, this.configMap);
    this.service = service(this, own);
    const { most } = replicaRange(own.file);
    this.disruptionBudget = most >= FEWEST_REPLICAS_FOR_BUDGET ? disruptionBudget(this, own) : undefined;
    this.networkPolicy = own.file.networkPolicy.enabled ? networkPolicy(this, own) : undefined;
    this.schemaJobNetworkPolicy = this.schemaJob && this.networkPolicy && schemaJobNetworkPolicy(this, own);
    const { keda, hpa } = own.file.scaling;
    const { kafka } = own.file;
    this.triggerAuthentication =
      keda && kafka && hasBrokerAccess(kafka) ? triggerAuthentication(this, own, kafka) : undefined;
    this.autoscaler = (keda && scaledObject(this, own, keda)) ?? (hpa && horizontalPodAutoscaler(this, own, hpa));
    const objects = objectsBelow(this);
    this.extraObjects = extraObjects(this, own, objects);
    addCommonMetadata(own.file, [...objects, ...this.extraObjects]);
    applyPatches({
      library: JsonPatch,
      subject,
      patches: own.file.patches,
      objects,
      // One without a kind has to match here: what is beside the consumer has its name.
      isOurs: (patch) => !isOfMonitoring(patch),
    });
  }
}
