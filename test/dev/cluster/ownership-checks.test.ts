import { expect, test } from '@jest/globals';
import { documentedCommands } from '../../../dev/cluster/ownership-checks.ts';

test('the commands that are run are those that docs/gitops.md shows', () => {
  expect(documentedCommands('taken over')).toMatch(
    /^kubectl apply --server-side -f before\/dist\nkubectl apply --server-side -f dist\n$/m,
  );
  expect(documentedCommands('git wins')).toBe('kubectl apply --server-side --force-conflicts -f dist\n');
  expect(documentedCommands('autoscaler deleted')).toMatch(/^kubectl --namespace NAMESPACE delete /);
});

test('a page that shows none of them fails the check', () => {
  expect(() => documentedCommands('git wins', '# Another page\n\n```bash\nkubectl get pods\n```\n')).toThrow(
    'docs/gitops.md has no commands under the mark "git wins"',
  );
});
