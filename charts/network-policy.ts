import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { type CheckedWorkload, objectMetadata, selectorLabels } from '../deployment/checked-workload.ts';
import type { NetworkPlace } from '../deployment/sections/network-policy.ts';
import { registryUrls } from '../settings/sections/schema-registry.ts';

const DNS_PORTS = [53];
const POSTGRES_PORTS = [5432];

/** The label that Kubernetes itself gives each namespace. */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

type Destination = NetworkPlace & { readonly ports: readonly number[] };

const toPort =
  (protocol: 'TCP' | 'UDP') =>
  (port: number): k8s.NetworkPolicyPort => ({ protocol, port: k8s.IntOrString.fromNumber(port) });

/** Empty for "any place": a rule of the policy without peers matches all of them. */
function peers({ cidr, namespace, podLabels }: NetworkPlace): k8s.NetworkPolicyPeer[] {
  if (cidr !== undefined) {
    return [{ ipBlock: { cidr } }];
  }
  if (namespace === undefined && podLabels === undefined) {
    return [];
  }
  return [
    {
      ...(namespace !== undefined && { namespaceSelector: { matchLabels: { [NAMESPACE_NAME]: namespace } } }),
      ...(podLabels !== undefined && { podSelector: { matchLabels: podLabels } }),
    },
  ];
}

function egressRule(
  destination: Destination,
  usualPorts: readonly number[],
  isDns = false,
): k8s.NetworkPolicyEgressRule {
  const ports = destination.ports.length > 0 ? destination.ports : usualPorts;
  const to = peers(destination);
  return {
    ...(to.length > 0 && { to }),
    ports: [...(isDns ? ports.map(toPort('UDP')) : []), ...ports.map(toPort('TCP'))],
  };
}

function brokerPorts({ settings }: CheckedWorkload): number[] {
  const ports = settings.kafka.brokers.map((broker) => Number(broker.slice(broker.lastIndexOf(':') + 1)));
  return [...new Set(ports)];
}

const HTTPS = 443;
const HTTP = 80;

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? HTTPS : HTTP) : Number(port);
}

/** Ports of Spring Boot Admin, where the consumer registers itself. */
const adminPorts = ({ settings }: CheckedWorkload): number[] => [
  ...new Set(settings.spring.boot.admin.client.url.map(portOf)),
];

/** Where the EKS Pod Identity Agent listens on each node, by IPv4 and IPv6; it hands out AWS's keys over HTTP. */
const POD_IDENTITY_AGENT: NetworkPlace[] = [{ cidr: '169.254.170.23/32' }, { cidr: 'fd00:ec2::23/128' }];

/** STS, and the agent on the node. */
const toAws = ({ tokens }: Egress): k8s.NetworkPolicyEgressRule[] => [
  ...tokens.map((each) => egressRule(each, [HTTPS])),
  { to: POD_IDENTITY_AGENT.flatMap(peers), ports: [toPort('TCP')(HTTP)] },
];

/**
 * Where the logins at brokers, registry and PostgreSQL get their tokens, or the keys that sign them; nowhere for other
 * logins.
 */
function toTokens({ settings }: CheckedWorkload, egress: Egress): k8s.NetworkPolicyEgressRule[] {
  const { kafka, schemaRegistry, database } = settings;
  const endpoints = [kafka.sasl?.oauth?.tokenEndpoint, schemaRegistry?.oauth?.tokenEndpoint].filter(
    (endpoint) => endpoint !== undefined,
  );
  const ports = [...new Set(endpoints.map(portOf))];
  const asksAws = kafka.sasl?.mechanism === 'aws-msk-iam' || database.rdsIam.enabled;
  return [
    ...(ports.length === 0 ? [] : egress.tokens.map((each) => egressRule(each, ports))),
    ...(asksAws ? toAws(egress) : []),
  ];
}

type Egress = CheckedWorkload['file']['networkPolicy']['egress'];

const toNameServers = ({ dns }: Egress) => dns.map((each) => egressRule(each, DNS_PORTS, true));

function toRegistry({ settings: { schemaRegistry } }: CheckedWorkload, places: Egress): k8s.NetworkPolicyEgressRule[] {
  const ports = schemaRegistry === undefined ? [] : [...new Set(registryUrls(schemaRegistry).map(portOf))];
  return ports.length === 0 ? [] : places.schemaRegistry.map((each) => egressRule(each, ports));
}

const toDatabase = ({ database }: Egress) => database.map((each) => egressRule(each, POSTGRES_PORTS));

function egress(workload: CheckedWorkload): k8s.NetworkPolicyEgressRule[] {
  const places = workload.file.networkPolicy.egress;
  return [
    ...toNameServers(places),
    ...places.brokers.map((each) => egressRule(each, brokerPorts(workload))),
    ...toDatabase(places),
    ...toRegistry(workload, places),
    ...toTokens(workload, places),
    ...(adminPorts(workload).length === 0 ? [] : [{ ports: adminPorts(workload).map(toPort('TCP')) }]),
    ...places.others.map((each) => egressRule(each, [])),
  ];
}

/**
 * Lets in requests to the HTTP interface alone, and out connections to name servers, brokers, PostgreSQL, the schema
 * registry and the servers of tokens alone. Defaults of the API are written out, and an empty list is left out, since
 * the API server drops it: a second apply then changes nothing.
 */
export function networkPolicy(scope: Construct, workload: CheckedWorkload): ApiObject {
  const from = workload.file.networkPolicy.ingress.flatMap(peers);
  const ports = [toPort('TCP')(workload.endpoint.port)];
  return new ApiObject(
    scope,
    'network-policy',
    k8s.KubeNetworkPolicy.manifest({
      metadata: objectMetadata(workload, workload.names.workload),
      spec: {
        podSelector: { matchLabels: workload.selector },
        policyTypes: ['Ingress', 'Egress'],
        ...(from.length > 0 && { ingress: [{ from, ports }] }),
        egress: egress(workload),
      },
    }),
  );
}

/**
 * Lets the Pods of the Job that migrates out to name servers, PostgreSQL and what its login by IAM asks, and nothing
 * in.
 */
export function schemaJobNetworkPolicy(scope: Construct, workload: CheckedWorkload): ApiObject {
  const { names, file, settings } = workload;
  const places = file.networkPolicy.egress;
  return new ApiObject(
    scope,
    'schema-job-network-policy',
    k8s.KubeNetworkPolicy.manifest({
      metadata: objectMetadata(workload, names.schemaJob),
      spec: {
        podSelector: { matchLabels: selectorLabels(names.schemaJob) },
        policyTypes: ['Ingress', 'Egress'],
        egress: [
          ...toNameServers(places),
          ...toDatabase(places),
          ...(settings.database.rdsIam.enabled ? toAws(places) : []),
        ],
      },
    }),
  );
}
