import { createHmac, timingSafeEqual } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json, JsonObject, ServiceHost } from '../../engine/index.ts'
import { isObject, parsedJson } from '../../engine/kit.ts'
import type { AuditTable } from './table.ts'

/** What proves that a row was once there: its hash, signed with a key that only the gateway has. */
export interface Checkpoint {
  readonly sequence: number
  readonly hash: string
  /** Time of the row (RFC 3339). */
  readonly at: string
  /** HMAC-SHA-256, in hex. */
  readonly mac: string
}

/** Checkpoints that are kept, the latest ones; and how many more may stand in the file until it is shortened. */
const kept = 10_000
const more = 1_000

/** The smallest length of a line, in bytes. */
const shortest = 198

/** Rows and milliseconds after which a checkpoint is written to the process log. */
const everyRows = 100
const everyTime = 60_000

/** Keeps checkpoints outside the database, so that a cut or replaced table is noticed. */
export class Checkpoints {
  readonly #host: Pick<ServiceHost, 'folder' | 'log'>
  #problem: string | undefined
  /** The latest checkpoint that the process log lacks, the number of those, and the timer that logs it. */
  #unlogged: Checkpoint | undefined
  #rows = 0
  #timer: NodeJS.Timeout | undefined

  constructor(host: Pick<ServiceHost, 'folder' | 'log'>) {
    this.#host = host
  }

  /** Why checkpoints cannot be written at present. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Appends the checkpoint of a committed row to the file, and flushes it. Never rejects. */
  async add(checkpoint: Checkpoint): Promise<void> {
    this.#note(checkpoint)
    try {
      // The folder of a SQLite file is there already.
      await mkdir(this.#host.folder, { recursive: true, mode: 0o700 })
      await this.#append(`${JSON.stringify(checkpoint)}\n`)
      this.#problem = undefined
    } catch (error) {
      this.#problem = `checkpoints cannot be written: ${(error as Error).message}`
      this.#host.log.error({ err: error }, 'a checkpoint of the audit trail cannot be written')
    }
  }

  /** The latest lines of the file as JSON values; undefined where a line is none. */
  async read(): Promise<readonly (Json | undefined)[]> {
    const text = (await readFile(this.#file, 'utf8').catch(unlessMissing)) ?? ''
    return linesOf(text)
      .slice(-kept)
      .map((line) => parsedJson(line))
  }

  /** Writes the latest checkpoint to the process log, unless it is there already. */
  tell(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#rows = 0
    if (this.#unlogged) this.#host.log.info({ checkpoint: this.#unlogged }, 'checkpoint of the audit trail')
    this.#unlogged = undefined
  }

  #note(checkpoint: Checkpoint): void {
    this.#unlogged = checkpoint
    this.#rows += 1
    if (this.#rows >= everyRows) this.tell()
    else this.#timer ??= setTimeout(() => this.tell(), everyTime).unref()
  }

  get #file(): string {
    return join(this.#host.folder, 'audit.checkpoints')
  }

  async #append(line: string): Promise<void> {
    for (;;) {
      await using file = await open(this.#file, 'a', 0o600)
      // One write, so that the lines of several processes do not mix.
      await file.write(line)
      await file.datasync()
      const { ino, size } = await file.stat()
      // Meanwhile another process may have put a shortened file in the place of this one.
      if ((await stat(this.#file)).ino !== ino) continue
      if (size > (kept + more) * shortest) await this.#shorten()
      return
    }
  }

  /** Keeps the latest lines. Loses none that another process appends meanwhile. */
  async #shorten(): Promise<void> {
    const path = `${this.#file}.new`
    // Only one process shortens the file at a time. A killed one leaves its draft.
    const begun = await stat(path).catch(unlessMissing)
    if (begun && Date.now() - begun.mtimeMs > everyTime) await rm(path, { force: true })
    const draft = await open(path, 'wx', 0o600).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
      throw error
    })
    if (draft === undefined) return
    try {
      await using old = await open(this.#file, 'r')
      const lines = linesOf(await old.readFile('utf8'))
      await draft.writeFile(`${lines.slice(-kept).join('\n')}\n`)
      await rename(path, this.#file)
      // Lines that were appended to the old file since it was read.
      await draft.writeFile(await old.readFile('utf8'))
      await draft.sync()
    } finally {
      await draft.close()
      await rm(path, { force: true })
    }
  }
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}

function unlessMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}

/** The checkpoint of a row, signed with a key. */
export function checkpointOf(
  { sequence, hash, at }: Pick<AuditTable, 'sequence' | 'hash' | 'at'>,
  key: Buffer,
): Checkpoint {
  const unsigned = { sequence, hash, at: new Date(at).toISOString() }
  return { ...unsigned, mac: macOf(unsigned, key) }
}

/** Whether a checkpoint was signed with a key; without one, never. */
export function isGenuine(checkpoint: Checkpoint, key: Buffer | undefined): boolean {
  if (key === undefined) return false
  const [given, own] = [Buffer.from(checkpoint.mac), Buffer.from(macOf(checkpoint, key))]
  return given.length === own.length && timingSafeEqual(given, own)
}

function macOf({ sequence, hash, at }: Omit<Checkpoint, 'mac'>, key: Buffer): string {
  return createHmac('sha256', key).update(`sluice-checkpoint-1\n${sequence}\n${hash}\n${at}`).digest('hex')
}

/** Whether a value has the form of a checkpoint. */
export function isCheckpoint(value: Json | undefined): value is Json & Checkpoint & JsonObject {
  if (!isObject(value)) return false
  const { sequence, hash, at, mac } = value
  return Number.isSafeInteger(sequence) && [hash, at, mac].every((text) => typeof text === 'string')
}
