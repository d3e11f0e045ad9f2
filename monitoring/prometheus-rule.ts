import type { IPrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { ruleGroups } from './alerts/rule-groups.ts';
import { operatorMetadata } from './operator-metadata.ts';

/** Hands the rules to the Prometheus Operator. */
export function prometheusRule(scope: Construct, workload: CheckedWorkload): ApiObject {
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: operatorMetadata(workload),
    spec: { groups: ruleGroups(workload).map((group) => ({ ...group, rules: [...group.rules] })) },
  } satisfies IPrometheusRule;
  return new ApiObject(scope, 'prometheus-rule', manifest);
}
