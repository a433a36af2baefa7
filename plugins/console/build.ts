import { readFile } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { GatewayError } from '../../engine/index.ts'
import type { Ingress } from '../../engine/index.ts'

const home = dirname(findPackageJSON('.', import.meta.url) ?? import.meta.dirname)

/** The settings of the stages: where the built console is. */
export const ofBuild = {
  type: 'object',
  additionalProperties: false,
  properties: {
    folder: {
      type: 'string',
      minLength: 1,
      description:
        'Folder of the built console, from where the gateway was started. Default: the console that is shipped.',
    },
  },
} as const

/** The folder of the built console. */
export function folderOf(given: string | undefined): string {
  return given === undefined ? join(home, 'dist', 'console') : resolve(given)
}

/** The bytes of a file; undefined if there is none. */
export async function bytesOf(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined
    throw error
  }
}

/** The error for a path at which the console has nothing. */
export function nothingAt({ method }: Ingress, path: string): GatewayError {
  return new GatewayError('not_found', { method, path: path.slice(0, 256) })
}

/** Headers of every answer of the console. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}
