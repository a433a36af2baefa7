import { readFileSync, readdirSync } from 'node:fs'

/** A process and all that it started (Linux). */
function tree(pid: number): number[] {
  const all = [pid]
  for (const one of all)
    for (const thread of entries(`/proc/${one}/task`))
      all.push(...read(`/proc/${one}/task/${thread}/children`).split(' ').filter(Boolean).map(Number))
  return [...new Set(all)]
}

/** Microseconds of processor time that the process tree has used, by the scheduler's own count. */
export function cpuMicros(pid: number): number {
  let nanoseconds = 0
  for (const one of tree(pid))
    for (const thread of entries(`/proc/${one}/task`))
      nanoseconds += Number(read(`/proc/${one}/task/${thread}/schedstat`).split(' ')[0] ?? 0)
  return nanoseconds / 1000
}

/** Resident memory of the process tree in MB. */
export function residentMb(pid: number): number {
  return tree(pid).reduce(
    (sum, one) => sum + Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${one}/status`))?.[1] ?? 0) / 1024,
    0,
  )
}

// A thread may end between the look at the folder and the look at its file: it then counts nothing.
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
