import { expect, test } from '@jest/globals';
import { html, Markup, table } from '../../../../app/management/page/markup.ts';

test.each([
  ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
  [`" onmouseover='alert(1)'`, '&quot; onmouseover=&#39;alert(1)&#39;'],
  ['&lt;', '&amp;lt;'],
  ['right\u202eto left\u0000\u001b[2J\nnext', 'right\\u{202e}to left\\u{0000}\\u{001b}[2J\\u{000a}next'],
])('what is put into HTML is escaped: %j', (hostile, escaped) => {
  expect(html`<p title="${hostile}">${[hostile, [hostile]]}</p>`.text).toBe(
    `<p title="${escaped}">${escaped}${escaped}</p>`,
  );
});

test('HTML in HTML stays, numbers are written, and what is not there leaves nothing', () => {
  expect(html`<p>${html`<b>${1}</b>`}${null}${undefined}</p>`.text).toBe('<p><b>1</b></p>');
  expect(html`${String.raw`\u0041 \n`}`).toEqual(new Markup(String.raw`\u0041 \n`));
});

test('a long text is cut between two characters', () => {
  expect(html`${'😀'.repeat(5_000)}`.text).toBe(`${'😀'.repeat(600)} …`);
  expect(html`${'x'.repeat(600)}`.text).toBe('x'.repeat(600));
});

test('a table names each row by its first column, and has its roles also where a row is a block', () => {
  const columns = [
    { title: 'Topic', cell: ({ name }: { name: string }) => name },
    { title: 'L"ag', kind: 'number', cell: () => null },
  ] as const;
  const { text } = table('<Topics>', columns, [{ name: '<b>' }], { name: 'all' });
  expect(text).toContain('<table role="table" aria-label="&lt;Topics&gt;">');
  expect(text).toContain('<tr role="row"><th role="rowheader" scope="row">&lt;b&gt;</th>');
  expect(text).toContain('<td role="cell" class="number" data-title="L&quot;ag"></td></tr>');
  expect(text).toContain('<tr role="row" class="sum"><th role="rowheader" scope="row">all</th>');
});
