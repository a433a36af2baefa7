// Brings what the tests use and the machine lacks. Where that needs rights it does not have, it says what to type;
// the suites that need the service then say that they were skipped (with CI=true they fail).
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const wanted = [
  { program: 'redis-server', package: 'redis-server' },
  { program: 'chromium', package: 'chromium' },
]

function onPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))
}

function run(command: string, ...args: string[]): boolean {
  return (
    spawnSync(command, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0
  )
}

const missing = wanted.filter(({ program }) => !onPath(program)).map((service) => service.package)
if (missing.length > 0) {
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`
  const privileged = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  const installed =
    privileged &&
    run('apt-get', 'update', '-qq') &&
    run('apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...missing)
  if (!installed) {
    console.error(`The tests use ${missing.join(', ')}; to install it: ${privileged ? command : `sudo ${command}`}`)
    if (process.env['CI']) process.exit(1)
  }
}
