import { createHash } from 'node:crypto';

/** System fonts, two palettes by the reader's system, and below 44rem each row of a table is a block. */
export const STYLE = `
  :root{color-scheme:light dark;--page:#f7f6f3;--card:#fff;--ink:#1d1c1a;--soft:#5c5953;--line:#dedbd4;--link:#0b5f73;--good:#1d6b37;--slow:#7a5200;--bad:#a8231a}
  @media(prefers-color-scheme:dark){:root{--page:#131312;--card:#1d1d1b;--ink:#edebe6;--soft:#aaa69e;--line:#3a3934;--link:#6cc6da;--good:#74d08f;--slow:#e8b95a;--bad:#ff9389}}
  *{box-sizing:border-box}
  body{margin:0 auto;padding:1.25rem;max-width:76rem;background:var(--page);color:var(--ink);font:1rem/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
  h1,h2,h3,p,ul{margin:0;padding:0}
  h1{font-size:1.75rem;line-height:1.2;margin:.1rem 0 .5rem}
  h1 small,h3,header p:first-child,small,footer,#refresh,.tiles p,th{color:var(--soft)}
  h1 small{font-size:1rem;font-weight:400}
  h2{font-size:1.1rem;margin:2rem 0 .6rem}
  h3{font-size:.875rem;font-weight:600}
  small{font-weight:400}
  small,.tiles p,footer,#refresh,th,td{font-size:.875rem}
  p+table{margin-top:.6rem}
  .tiles{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fit,minmax(min(15rem,100%),1fr))}
  .tiles>div,.waits li,table{background:var(--card);border:1px solid var(--line);border-radius:.5rem}
  .tiles>div{padding:.75rem 1rem}
  .tiles .value{font-size:1.75rem;line-height:1.3;color:var(--ink);font-variant-numeric:tabular-nums}
  .chip{white-space:nowrap;font-weight:600;font-size:.875rem;color:var(--soft)}
  .UP{color:var(--good)}.DOWN{color:var(--bad)}.OUT_OF_SERVICE{color:var(--slow)}
  .waits ul{display:grid;gap:.75rem;list-style:none}
  .waits li{padding:.75rem 1rem;border-left:.3rem solid var(--slow)}
  .quiet p{color:var(--soft)}
  code{font:.8125rem/1.4 ui-monospace,monospace;color:var(--ink)}
  table{width:100%;border-collapse:separate;border-spacing:0;padding:.25rem .5rem;font-variant-numeric:tabular-nums}
  th,td{padding:.3rem .5rem;text-align:left;vertical-align:middle;border-top:1px solid var(--line)}
  thead th{border:0;font-weight:600}
  tbody th{font-weight:400;color:var(--ink)}
  .number{text-align:right}
  svg{display:block;width:100%;height:1.75rem;fill:none;stroke:var(--link);stroke-width:1.5;overflow:visible}
  path{vector-effect:non-scaling-stroke;stroke-linejoin:round}
  td svg{min-width:5rem;max-width:14rem}
  .tiles svg{height:2.75rem;margin:.4rem 0}
  tr.sum>*{font-weight:600;border-top:2px solid var(--soft)}
  footer{margin:2rem 0 1rem;border-top:1px solid var(--line);padding-top:.75rem}
  #refresh{position:sticky;bottom:0;margin:0;padding:.5rem 0;background:var(--page)}
  .stale{filter:grayscale(1)}
  .stale+#refresh span{color:var(--bad);font-weight:600}
  a{color:var(--link)}
  nav a{display:inline-block;padding:.3rem .4rem .3rem 0}
  :focus-visible{outline:3px solid var(--link);outline-offset:2px}
  button{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--soft);border-radius:.4rem;padding:.3rem .8rem}
  @media(max-width:44rem){
  body{padding:.75rem}
  table,tbody,tr,tbody th,td{display:block;width:100%}
  thead{position:absolute;clip-path:inset(50%)}
  tr{padding:.4rem 0}tr+tr{border-top:1px solid var(--line)}
  th,td{border:0;padding:.1rem .25rem}
  tbody th{font-weight:600}
  td:empty{display:none}
  td,td.number{display:grid;grid-template-columns:8.5rem 1fr;text-align:left}
  td::before{content:attr(data-title);color:var(--soft)}
  }
`;

/**
 * Asks for the page again every five seconds while it is seen, and puts what is new in the place of what was there. It
 * keeps the focus, leaves a selection alone, and says since when there has been no answer. A page of another version is
 * loaded as a whole: its style is another one.
 */
export const SCRIPT = `
  const EVERY = 5000, live = document.getElementById('live'), line = document.getElementById('refresh');
  const [button, said] = line.children, icon = () => document.querySelector('link[rel=icon]');
  let paused = false, asking = false, silent = null;
  const say = (text) => {
    if (said.textContent !== text) said.textContent = text;
  };
  const WORKS = 'Refreshes every 5 s.';
  const links = () => [...live.querySelectorAll('a')];
  const show = (next) => {
    const { href, textContent } = document.activeElement ?? {};
    live.replaceChildren(...document.adoptNode(next.getElementById('live')).childNodes);
    links().find((link) => link.href === href && link.textContent === textContent)?.focus({ preventScroll: true });
    document.title = next.title;
    icon().replaceWith(next.querySelector('link[rel=icon]'));
  };
  const refresh = async () => {
    if (paused || asking || document.hidden) return;
    if (getSelection()?.type === 'Range') return say('Waits while text is selected.');
    asking = true;
    try {
      const answer = await fetch('', { headers: { accept: 'text/html' }, cache: 'no-store', signal: AbortSignal.timeout(EVERY * 2) });
      const next = answer.ok && new DOMParser().parseFromString(await answer.text(), 'text/html');
      if (!next || !next.getElementById('live')) throw new Error('it answers with ' + answer.status);
      if (paused) return;
      if (next.querySelector('style').textContent !== document.querySelector('style').textContent) location.reload();
      show(next);
      silent = null;
    } catch (error) {
      silent ??= new Date();
      say('Not refreshed since ' + silent.toISOString().slice(11, 19) + ' UTC: ' + (error.name === 'Error' ? error.message : 'no answer'));
    } finally {
      asking = false;
    }
    if (silent === null && !paused) say(WORKS);
    live.classList.toggle('stale', silent !== null);
  };
  button.onclick = () => {
    paused = !paused;
    button.setAttribute('aria-pressed', paused);
    say(paused ? 'Paused.' : WORKS);
    refresh();
  };
  document.addEventListener('visibilitychange', refresh);
  setInterval(refresh, EVERY);
  say(WORKS);
  line.hidden = false;
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Nothing but this style and this script, and requests to the page's own origin. The icon is in the page itself.
 */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
