import { askRaw } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'

/** How far a download is. */
export interface Progress {
  readonly rows: number
  readonly bytes: number
}

/** A finished download. */
export interface Downloaded extends Progress {
  readonly file: Blob
  /** `at` of the last row; null: there is none. */
  readonly newest: string | null
}

const lineEnd = 10

/** Reads an export as it comes. Throws the gateway's refusal, and `AbortError` when `signal` says so. */
export async function download(
  query: Query,
  signal: AbortSignal,
  tell: (progress: Progress) => void,
): Promise<Downloaded> {
  const response = await askRaw('GET', '/api/routing/export/dataset', { query, signal })
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let progress: Progress = { rows: 0, bytes: 0 }
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    const rows = chunk.reduce((sum, byte) => (byte === lineEnd ? sum + 1 : sum), progress.rows)
    progress = { rows, bytes: progress.bytes + chunk.length }
    tell(progress)
  }
  const file = new Blob(chunks, { type: 'application/x-ndjson' })
  return { ...progress, file, newest: await newestIn(file) }
}

/** Most bytes of a line: a block of 16 KB, and a prompt. */
const mostOfLine = 262_144

async function newestIn(file: Blob): Promise<string | null> {
  const lines = (await file.slice(-mostOfLine).text()).trimEnd().split('\n')
  const last = lines.at(-1)
  return last ? (JSON.parse(last) as { at: string }).at : null
}

/** Lets the browser save a file. */
export function save(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
