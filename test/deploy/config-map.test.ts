import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { startServe } from '../engine/cli/process.ts'
import { sandbox } from '../engine/cli/sandbox.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

let swaps = 0

/**
 * Writes files as the kubelet mounts a ConfigMap: each is a link into `..data`, which is a link to a folder with a time in
 * its name. A change makes a new folder, and renames a new link over `..data`.
 */
async function mount(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const made = `..2026_11_27_10_00_0${swaps++}.123456789`
  const old = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('..2026'))
  await mkdir(join(folder, made), { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, made, name), text)
  await symlink(made, join(folder, '..data_tmp'))
  await rename(join(folder, '..data_tmp'), join(folder, '..data'))
  const there = new Set(await readdir(folder))
  for (const name of Object.keys(files)) if (!there.has(name)) await symlink(`..data/${name}`, join(folder, name))
  for (const name of there) if (!name.startsWith('..') && !(name in files)) await rm(join(folder, name))
  for (const name of old) await rm(join(folder, name), { recursive: true })
}

const pipeline = (route: string) =>
  `name: own\nsummary: Ours.\npublic: true\nroutes: [GET /${route}]\nstages: [{ health: { report: live } }]\n`

describe('a configuration that is mounted from ConfigMaps', () => {
  it('is loaded when they change, without a restart: the configuration, and pipelines that come and go', async () => {
    const here = await sandbox()
    const [config, pipelines] = [join(here.folder, 'config'), join(here.folder, 'pipelines')]
    await rm(join(config, 'sluice.yaml'))
    const model = (name: string) =>
      `providers: [{ name: echo, type: echo }]\nmodels: [{ name: ${name}, provider: echo }]\n`
    const key = 'sk-sluice-0123456789abcdef0123456789abcdef0123456789a'
    const sluice = (name: string) => ({ 'sluice.yaml': `${model(name)}api_keys: [{ name: k, key: ${key} }]\n` })
    await mount(config, sluice('first'))
    await mount(pipelines, { 'own.yaml': pipeline('first') })
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const serving = startServe(here.folder, { PORT: String(port) }, '--json')
    try {
      await serving.until(() => serving.out.some((line) => line.includes('"url"')))
      const headers = { accept: 'application/json', authorization: `Bearer ${key}` }
      const status = async (path: string) => (await fetch(`${url}/${path}`, { headers })).status
      const models = async () => {
        const { data } = (await (await fetch(`${url}/v1/models`, { headers })).json()) as { data: { id: string }[] }
        return data.map(({ id }) => id)
      }
      expect(await models()).to.include('first')
      expect(await status('first')).to.equal(200)

      await mount(config, sluice('second'))
      await until(async () => (await models()).includes('second'))
      expect(await models()).not.to.include('first')

      await mount(pipelines, { 'own.yaml': pipeline('second'), 'more.yaml': pipeline('more').replace('own', 'more') })
      await until(async () => (await status('second')) === 200)
      expect([await status('first'), await status('more')]).to.deep.equal([404, 200])
      await mount(pipelines, { 'own.yaml': pipeline('second') })
      await until(async () => (await status('more')) === 404)

      // It goes on watching, and is the same process.
      await mount(config, sluice('third'))
      await until(async () => (await models()).includes('third'))
      const live = serving.error.filter((line) => line.includes('"level":"error"'))
      expect(live).to.deep.equal([])
    } finally {
      await serving.remove()
      await here.remove()
    }
  })
})
