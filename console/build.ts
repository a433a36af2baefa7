// Builds the console unless it was built after the last change. A gateway serves without it, so a failure here is told
// and ends nothing. Run before `npm start` and `npm test`; nobody needs it in an installed package.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const built = join(import.meta.dirname, '..', 'dist', 'console')

/** The time of the last change of what a build reads; a test leaves everything else alone. */
function lastChange(): number {
  const files = ['index.html', 'package.json', 'vite.config.ts', 'src', 'public'].flatMap((name) => {
    const path = join(import.meta.dirname, name)
    if (!statSync(path).isDirectory()) return [path]
    return [path, ...readdirSync(path, { recursive: true, encoding: 'utf8' }).map((inner) => join(path, inner))]
  })
  return Math.max(...files.map((file) => statSync(file).mtimeMs))
}

function isFresh(): boolean {
  const page = join(built, 'index.html')
  return existsSync(page) && statSync(page).mtimeMs >= lastChange()
}

/**
 * Builds the console if its build is missing or older than its sources. Returns why it could not. The new build takes
 * the place of the old one at once, so that a gateway beside never serves half of one.
 */
export function ensureBuilt(): string | undefined {
  if (isFresh()) return undefined
  const made = `${built}.${process.pid}`
  const old = `${made}.old`
  try {
    const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin', 'vite.js')
    const words = [vite, 'build', '--logLevel', 'error', '--outDir', made]
    const { status, stderr } = spawnSync(process.execPath, words, { cwd: import.meta.dirname, encoding: 'utf8' })
    if (status !== 0) return stderr.trim() || `vite ended with ${status}`
    if (existsSync(built)) renameSync(built, old)
    renameSync(made, built)
    return undefined
  } catch (error) {
    // Another process may have put its build there in between.
    return isFresh() ? undefined : (error as Error).message
  } finally {
    for (const folder of [made, old]) rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const failure = ensureBuilt()
  if (failure !== undefined)
    console.error(`The console was not built, so the gateway serves its API alone:\n${failure}\n`)
}
