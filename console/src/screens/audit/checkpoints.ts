/** What proves that a row was once there; the gateway writes them beside its database and into its log. */
export interface Checkpoint {
  readonly sequence: number
  readonly hash: string
  readonly at: string
  readonly mac: string
}

/** The checkpoints in lines of the process log or of `audit.checkpoints`, and the first line that should be one and is not. */
export function checkpointsIn(text: string): { readonly found: readonly Checkpoint[]; readonly wrong?: number } {
  const found: Checkpoint[] = []
  for (const [index, line] of text.split('\n').entries()) {
    // The log has other lines, too.
    if (!line.includes('"mac"')) continue
    const checkpoint = checkpointOf(line)
    if (!checkpoint) return { found, wrong: index + 1 }
    found.push(checkpoint)
  }
  return { found }
}

function checkpointOf(line: string): Checkpoint | undefined {
  try {
    const value = JSON.parse(line) as Partial<Checkpoint> & { readonly checkpoint?: Partial<Checkpoint> }
    const { sequence, hash, at, mac } = value.checkpoint ?? value
    const isWhole = typeof sequence === 'number' && [hash, at, mac].every((one) => typeof one === 'string')
    return isWhole ? ({ sequence, hash, at, mac } as Checkpoint) : undefined
  } catch {
    return undefined
  }
}
