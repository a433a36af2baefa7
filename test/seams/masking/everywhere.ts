import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { unpackSeal } from '../../../engine/kit.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { copyPipelines } from '../../support/pipelines.ts'
import type { Pipelines } from '../../support/pipelines.ts'

/** The shipped pipelines with both stages of the plugin: after "validate", and after "call" in every "attempt". */
export async function maskingPipelines(words: readonly string[]): Promise<Pipelines> {
  const copy = await copyPipelines()
  const config = JSON.stringify({ words })
  for (const name of await readdir(copy.folder)) {
    const file = join(copy.folder, name)
    const text = await readFile(file, 'utf8')
    const requests = /^(audio|images)/.test(name)
      ? text
      : text.replaceAll(/^( *)- validate.*$/gm, `$&\n$1- mask-request: ${config}`)
    const answers =
      name === 'compact.yaml' ? requests : requests.replaceAll(/^( *)- call$/gm, `$&\n$1- mask-answer: ${config}`)
    await writeFile(file, answers)
  }
  return copy
}

/** A text with what it spells: escapes of JSON, and what is packed into seals. */
export function spelled(text: string): string {
  const plain = text.replaceAll(/\\u([\da-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  const seals = [...text.matchAll(/gw1\.[\w-]+/g)].map(([seal]) => JSON.stringify(unpackSeal(seal)?.value ?? null))
  return [text, plain, plain.replaceAll('\\', ''), ...seals.filter((seal) => seal !== 'null').map(spelled)].join('\n')
}

const zstd = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** Bytes as text; those that are compressed, as what they were. */
export function opened(bytes: Buffer): string {
  const at = bytes.indexOf(zstd)
  return at < 0
    ? bytes.toString()
    : `${bytes.subarray(0, at).toString()}\n${zstdDecompressSync(bytes.subarray(at)).toString()}`
}

/** Everything that the database holds, as text. */
export async function databaseOf(gateway: RunningGateway): Promise<string> {
  await gateway.rows()
  const { query } = gateway.engine.database
  const tables = await query.introspection.getTables()
  const texts: string[] = []
  for (const { name } of tables) {
    const rows = (await query
      .selectFrom(name as 'records')
      .selectAll()
      .execute()) as readonly object[]
    for (const value of rows.flatMap((row) => Object.values(row) as unknown[]))
      texts.push(value instanceof Uint8Array ? opened(Buffer.from(value)) : String(value))
  }
  return texts.map(spelled).join('\n')
}
