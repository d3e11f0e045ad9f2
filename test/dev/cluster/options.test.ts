import { expect, test } from '@jest/globals';
import { CLUSTER_HELP, readClusterRequest } from '../../../dev/cluster/options.ts';

const KUBECONFIG = '/some/kubeconfig';

test('without a cluster it is said that nothing is tested, and that is no failure', () => {
  const request = readClusterRequest([], { KUBECONFIG: '' });
  expect(request).toEqual({ kind: 'exit', code: 0, stdout: expect.stringMatching(/^SKIPPED: KUBECONFIG/) });
});

test('an empty variable is as good as none', () => {
  expect(readClusterRequest([], { KUBECONFIG, CLUSTER_HOST: '', CLUSTER_SCRAPE: 'scrape' })).toEqual({
    kind: 'test',
    options: { loadImage: undefined, host: undefined, scrape: 'scrape' },
  });
});

test('the help names every variable', () => {
  expect(readClusterRequest(['--help'], {})).toEqual({ kind: 'exit', code: 0, stdout: CLUSTER_HELP });
  for (const name of ['KUBECONFIG', 'CLUSTER_LOAD_IMAGE', 'CLUSTER_HOST', 'CLUSTER_SCRAPE']) {
    expect(CLUSTER_HELP).toContain(name);
  }
});

test('what is unknown is refused, with the help', () => {
  const request = readClusterRequest(['--fast', '--help'], { KUBECONFIG });
  expect(request).toEqual({ kind: 'exit', code: 2, stderr: expect.stringMatching(/^unknown: --fast\n\nApplies/) });
});
