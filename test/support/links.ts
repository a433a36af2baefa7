/** The files and folders that a page of Markdown links to or shows, as it writes them: no anchors, nothing of the web. */
export function linksIn(text: string): string[] {
  return [...text.matchAll(/(?:\]\(|\bsrc(?:set)?=")(?![a-z]+:|#)([^)#\s"]+)/g)].map(([, link = '']) => link)
}
