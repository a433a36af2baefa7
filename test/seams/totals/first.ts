/** What each process reported last, by its number; those that have ended, too. */
const reports = new Map<number, number>()
const ended: number[] = []
/** Those that said that they close. */
const closed = new Set<number>()

export default function answer(question: unknown, from: number): unknown {
  if (question === 'never') return new Promise(() => undefined)
  if (question === 'sum') {
    const sum = [...reports.values()].reduce((all, one) => all + one, 0)
    return { sum, ended: ended.length, closed: closed.size }
  }
  const { count, closes } = question as { readonly count: number; readonly closes: boolean }
  reports.set(from, count)
  if (closes) closed.add(from)
  return undefined
}

export function left(from: number): void {
  ended.push(from)
}
