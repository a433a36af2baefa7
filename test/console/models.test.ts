import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { properties } from '../../console/src/screens/models/fields.ts'
import type { JsonObject } from '../../engine/index.ts'
import { chatAnswer } from '../service/streams.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

const payload = '<img src=x onerror=alert(1)>'

describe('console/models', () => {
  let rig: SignedInRig
  let upstream: ScriptedUpstream
  before(async function () {
    upstream = await scriptedUpstream()
    rig = await startConsole(this, {
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'vendor', type: 'compatible', base_url: upstream.url, api_key: 'k' },
      ],
      models: [
        {
          name: 'declared',
          provider: 'vendor',
          upstream_model: 'big-2026',
          supports_images: true,
          context_length: 200_000,
          quality_tier: 'premium',
          pricing: { input: 3, output: 15 },
          aliases: ['old-name'],
          deployments: [{ provider: 'echo', weight: 2 }],
        },
      ],
    })
    const make = (body: object) => rig.gateway.asAdmin('POST /api/config/models', body)
    await make({ name: 'small', provider: 'vendor', upstream_model: 'small-2026', description: payload })
    await make({ name: 'group/large', provider: 'vendor', upstream_model: 'large', display_name: payload })
  })
  // A browser tells of every refusal, too, and refusals are part of these tests.
  afterEach(() => expect(rig.complaints().filter((one) => !/status of (409|422|500)/.test(one))).to.deep.equal([]))
  after(async () => {
    await rig?.close()
    await upstream.close()
  })

  it('have a field in the form for each field of the record', () => {
    const schema = JSON.parse(
      readFileSync(new URL('../../config/sluice.schema.json', import.meta.url), 'utf8'),
    ) as JsonObject & { properties: { models: { items: { properties: JsonObject } } } }
    const record = schema.properties.models.items.properties
    // It has a button.
    expect([...Object.keys(properties), 'enabled']).to.have.members(Object.keys(record))
    const names = (one: unknown) => Object.keys((one as { properties: JsonObject }).properties)
    expect(names(properties['pricing'])).to.have.members(names(record['pricing']))
  })

  it('are listed with what they take, cost and whether they are reachable', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.signedIn('admin', '/', { theme })
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Models' }).click()
      await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor()
      const row = page.getByRole('table', { name: 'Models' }).getByRole('row', { name: /declared/ })
      const text = await row.innerText()
      for (const word of ['in file', 'reachable', 'images', 'tools', '200,000', '$3.00', '$15.00', 'premium'])
        expect(text).to.include(word)
      expect(await axe(page)).to.deep.equal([])
      await page.getByRole('searchbox', { name: 'Find a model' }).fill('group')
      await row.waitFor({ state: 'detached' })
      expect(new URL(page.url()).search).to.equal('?search=group')
      await page.getByRole('link', { name: 'group/large' }).click()
      await page.getByRole('heading', { level: 1, name: 'group/large' }).waitFor()
      expect(await page.getByRole('textbox', { name: 'Display name' }).inputValue()).to.equal(payload)
    }
  })

  it('that the file declares are read, with their places in order', async () => {
    const page = await rig.signedIn('admin', '/models/declared')
    await page.getByText(/^Declared in sluice\.yaml:\d+\. Change it there/).waitFor()
    const places = page.getByRole('region', { name: 'Places' }).getByRole('listitem')
    expect(await places.allInnerTexts()).to.deep.equal(['vendorbig-2026Share 1', 'echobig-2026Share 2'])
    expect(await page.getByRole('button', { name: 'Save' }).count()).to.equal(0)
    expect(await axe(page)).to.deep.equal([])
  })

  it('are added, changed, tested, switched off with an undo, and deleted by their name', async () => {
    const page = await rig.signedIn('admin', '/models')
    await page.getByRole('button', { name: 'Add model' }).click()
    await page.getByRole('heading', { name: 'Add model' }).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('Needed.').waitFor()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('mine')
    await page.getByRole('combobox', { name: 'Provider', exact: true }).click()
    await page.getByRole('option', { name: 'vendor' }).click()
    await page.getByRole('textbox', { name: 'Upstream model', exact: true }).fill('mine-2026')
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'mine' }).waitFor()
    expect((await rig.gateway.asAdmin('GET /api/config/models/mine')).body).to.include({
      provider: 'vendor',
      upstream_model: 'mine-2026',
    })

    await page.getByRole('switch', { name: 'Images' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Discard changes' }).waitFor({ state: 'detached' })
    await page.getByRole('main').getByText('images', { exact: true }).waitFor()
    upstream.answer({ body: chatAnswer })
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText(/^It answers: one call, /).waitFor()
    expect(JSON.parse(String(upstream.requests.at(-1)?.body))).to.include({ model: 'mine-2026' })

    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('Disabled mine.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Disable' }).waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('textbox', { name: 'Type mine to confirm' }).fill('mine')
    await page.getByRole('button', { name: 'Delete mine' }).click()
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor()
    expect((await rig.gateway.asAdmin('GET /api/config/models/mine')).status).to.equal(404)
  })

  it('that others name are deleted after a second confirmation, which leads to these', async () => {
    const make = (body: object) => rig.gateway.asAdmin('POST /api/config/models', { provider: 'vendor', ...body })
    await make({ name: 'needed', aliases: ['wanted'], supports_mapeval: true })
    await make({ name: 'by-name', fallbacks: ['needed', 'small'] })
    await make({ name: 'by-alias', fallbacks: ['wanted'] })
    const judge = { model: 'needed' }
    expect((await rig.gateway.asAdmin('PATCH /api/config/server/smart_routing', { judge })).status).to.equal(200)
    const page = await rig.signedIn('admin', '/models/needed')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete needed' })
    await dialog.getByRole('textbox', { name: 'Type needed to confirm' }).fill('needed')
    await dialog.getByRole('button', { name: 'Delete needed', exact: true }).click()
    const refused = dialog.getByRole('alert')
    await refused.getByText('in_use', { exact: true }).waitFor()
    for (const user of ['model "by-name"', 'model "by-alias"', 'section "smart_routing"'])
      expect(await refused.innerText()).to.include(user)
    for (const name of ['by-name', 'by-alias']) {
      const link = dialog.getByRole('link', { name, exact: true })
      expect(await link.getAttribute('href')).to.equal(`/models/${name}`)
    }
    expect(await axe(page)).to.deep.equal([])
    expect((await rig.gateway.asAdmin('GET /api/config/models/by-name')).body['fallbacks']).to.include('needed')

    await dialog.getByRole('button', { name: 'Take out and delete needed' }).click()
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor()
    expect((await rig.gateway.asAdmin('GET /api/config/models/needed')).status).to.equal(404)
    expect((await rig.gateway.asAdmin('GET /api/config/models/by-name')).body['fallbacks']).to.deep.equal(['small'])
    for (const name of ['by-name', 'by-alias']) await rig.gateway.asAdmin(`DELETE /api/config/models/${name}`)
  })

  it('are switched off several at once', async () => {
    const page = await rig.signedIn('admin', '/models')
    await page.getByRole('checkbox', { name: 'Choose small' }).check()
    await page.getByRole('checkbox', { name: 'Choose group/large' }).check()
    await page.getByRole('group', { name: '2 models are chosen' }).getByRole('button', { name: 'Disable' }).click()
    await page.getByText('Disabled 2 models.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('row', { name: /small/ }).getByText('reachable').waitFor()
  })

  it('take prices from a list, but for those set by hand and those that differ too much', async () => {
    const make = (body: object) => rig.gateway.asAdmin('POST /api/config/models', { provider: 'vendor', ...body })
    await make({ name: 'fresh', upstream_model: 'fresh-1' })
    await make({ name: 'hand', upstream_model: 'hand-1', pricing: { input: 2 } })
    const page = await rig.signedIn('admin', '/models')
    await page.route('**/api/config/models/sync-pricing', async (route) => {
      const body = route.request().postDataJSON() as JsonObject
      const data = {
        'fresh-1': { input_cost_per_token: 0.000004, litellm_provider: 'vendor' },
        'hand-1': { input_cost_per_token: 0.000009, litellm_provider: 'vendor' },
      }
      await route.continue({ postData: JSON.stringify({ ...body, data }) })
    })
    await page.getByRole('button', { name: 'Sync' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sync with a list' }).waitFor()
    await page.getByRole('button', { name: 'Compare' }).click()
    const table = page.getByRole('table', { name: 'Sync with a list' })
    await table.getByRole('row', { name: /fresh.*pricing\.input.*4.*set/ }).waitFor()
    await table.getByRole('row', { name: /hand.*kept: set by hand/ }).waitFor()
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Apply 1 change' }).click()
    await page.getByText('1 value was changed.').waitFor()
    const { body } = await rig.gateway.asAdmin('GET /api/config/models/fresh')
    expect(body['pricing']).to.deep.include({ input: 4 })
  })

  it('are the catalog to viewers, who change nothing, and say what failed', async () => {
    const viewer = await rig.signedIn('viewer', '/models')
    await viewer
      .getByRole('table', { name: 'Models' })
      .getByRole('row', { name: /declared/ })
      .waitFor()
    expect(await viewer.getByRole('button', { name: 'Add model' }).count()).to.equal(0)
    expect(await axe(viewer)).to.deep.equal([])
    const page = await rig.signedIn('admin', '/')
    await page.route('**/api/config/models?**', (route) =>
      route.fulfill({ status: 500, json: { error: { message: 'It broke.', code: 'internal_error', param: null } } }),
    )
    await page.goto('/models')
    await page.getByRole('alert').getByText('It broke.').waitFor()
    await page.unroute('**/api/config/models?**')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('table', { name: 'Models' }).waitFor()
  })
})
