/** A fenced block of a Markdown file. */
export interface Block {
  /** Its text, preceded by empty lines so that line numbers match those of the file. */
  readonly text: string
  /** Number of its first line, from 1. */
  readonly line: number
}

/** The fenced blocks in some languages (CommonMark, section 4.5). Their own indentation is kept. */
export function fencedBlocks(markdown: string, languages: readonly string[]): Block[] {
  const blocks: Block[] = []
  let open: { fence: string; wanted: boolean; line: number; lines: string[] } | undefined
  for (const [index, line] of markdown.split(/\r?\n/).entries()) {
    const [, fence, info] = /^\s{0,64}(`{3,}|~{3,})\s{0,64}(.*)/.exec(line) ?? []
    if (open === undefined) {
      const language = (info ?? '').split(/\s/, 1)[0] ?? ''
      if (fence !== undefined) open = { fence, wanted: languages.includes(language), line: index + 2, lines: [] }
    } else if (fence?.startsWith(open.fence) && info === '') {
      if (open.wanted) blocks.push(blockOf(open.line, open.lines))
      open = undefined
    } else open.lines.push(line)
  }
  return blocks
}

function blockOf(line: number, lines: readonly string[]): Block {
  return { line, text: '\n'.repeat(line - 1) + lines.join('\n') }
}
