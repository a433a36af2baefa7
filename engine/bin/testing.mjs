// The entry point `sluice/testing`: the sources in a checkout, the build in an installed package, as in sluice.cjs.
import { existsSync } from 'node:fs'

const source = new URL('../testing.ts', import.meta.url)
const fromSource = !import.meta.url.includes('node_modules') && existsSync(source)

export const { openGateway } = await import(
  fromSource ? source.href : new URL('../../dist/engine/testing.js', import.meta.url).href
)
