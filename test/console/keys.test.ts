import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { axe, startConsole } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'

const pricing = { input: 1000, output: 2000 }

describe('console/keys', () => {
  let rig: SignedInRig
  let upstream: ScriptedUpstream
  before(async function () {
    upstream = await scriptedUpstream()
    rig = await startConsole(this, {
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'reed', type: 'compatible', base_url: upstream.url, api_key: 'unused', allow_private: true },
      ],
      models: [
        { name: 'sable', provider: 'echo', pricing },
        { name: 'reed-large', provider: 'reed', pricing },
      ],
    })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(async () => {
    await rig?.close()
    await upstream.close()
  })

  const make = async (body: JsonObject) => {
    const made = await rig.gateway.asAdmin('POST /api/api-keys', body)
    expect(made.status).to.equal(201)
    return made.body as { readonly id: string; readonly key: string }
  }
  const spend = async (key: string) => {
    const body = { model: 'sable', messages: [{ role: 'user', content: 'hi' }] }
    const answer = await rig.gateway.post('/v1/chat/completions', body, { authorization: `Bearer ${key}` })
    expect(answer.status).to.equal(200)
    await answer.text()
  }
  const pathOf = ({ id }: { readonly id: string }) => `/keys/${id}`

  it('makes a key, shows its text once, and never again', async () => {
    const page = await rig.signedIn('admin', '/keys')
    await page.getByRole('table', { name: 'API keys' }).getByRole('link', { name: 'test' }).waitFor()
    await page.getByRole('button', { name: 'Add key' }).click()
    await page.getByRole('heading', { level: 1, name: 'Add key' }).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    expect(await page.getByRole('textbox', { name: 'Name' }).getAttribute('aria-invalid')).to.equal('true')
    await page.getByRole('textbox', { name: 'Name' }).fill('ci-bot')
    await page.getByRole('combobox', { name: 'Owner' }).fill('view')
    await page.getByRole('option', { name: 'viewer' }).click()
    await page.getByRole('radiogroup', { name: 'Models' }).getByRole('radio', { name: 'Only these' }).click()
    await page.getByRole('combobox', { name: 'Models' }).fill('sab')
    await page.getByRole('option', { name: 'sable' }).click()
    await page.getByRole('button', { name: 'Set Budget' }).click()
    await page.getByRole('textbox', { name: 'Amount' }).fill('12.5')
    await page.getByRole('radio', { name: 'week' }).click()
    await page.getByRole('button', { name: 'Set Rate limit' }).click()
    await page.getByRole('textbox', { name: 'Requests per period' }).fill('60')
    await page.getByRole('textbox', { name: 'Expires at' }).fill('2099-01-31 12:00')
    await page.getByRole('button', { name: 'Add to Tags' }).click()
    await page.getByRole('group', { name: 'Tags' }).getByRole('textbox', { name: 'Name' }).fill('team')
    await page.getByRole('group', { name: 'Tags' }).getByRole('textbox', { name: 'Value' }).fill('red')
    await page.getByRole('button', { name: 'Save' }).click()

    const dialog = page.getByRole('dialog', { name: 'New key' })
    const text = await dialog.getByRole('textbox', { name: 'Key' }).inputValue()
    expect(text).to.match(/^sk-sluice-[\w-]{43}$/)
    expect(await dialog.getByRole('textbox', { name: 'Key' }).getAttribute('readonly')).to.not.equal(null)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Copy key' }).click()
    await dialog.getByRole('status').getByText('Copied').waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).to.equal(text)
    await dialog.getByRole('button', { name: 'I have kept it' }).click()

    await page.getByRole('heading', { level: 1, name: 'ci-bot' }).waitFor()
    expect(await page.getByRole('dialog').count()).to.equal(0)
    expect(await page.content()).to.not.include(text)
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'ci-bot' }).waitFor()
    expect(await page.content()).to.not.include(text)
    await spend(text)
    const { body } = await rig.gateway.asAdmin(`GET /api/api-keys/${page.url().split('/').pop()}`)
    const { owner, models, budget, rate_limit: limit, expires_at: expires, tags } = body
    expect(owner).to.deep.equal({ id: rig.gateway.viewer.id, username: 'viewer' })
    expect(models).to.deep.equal(['sable'])
    expect(budget).to.include({ usd: 12.5, period: 'week' })
    expect(limit).to.deep.equal({ requests: 60, tokens: null, concurrency: null, period: '60s' })
    expect(expires).to.equal('2099-01-31T12:00:00.000Z')
    expect(tags).to.deep.equal({ team: 'red' })
  })

  it('are copied from pages without TLS, too, and so are lists', async () => {
    // Browsers trust addresses of this machine, but not this one.
    const url = rig.gateway.url.replace('127.0.0.1', '0.0.0.0')
    const page = await rig.signedIn('admin', `${url}/keys`)
    expect(await page.evaluate('isSecureContext')).to.equal(false)
    await page.getByRole('button', { name: 'Add key' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('from-afar')
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'New key' })
    const text = await dialog.getByRole('textbox', { name: 'Key' }).inputValue()
    await dialog.getByRole('button', { name: 'Copy key' }).click()
    await dialog.getByRole('status').getByText('Copied').waitFor()
    await dialog.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByRole('heading', { level: 1, name: 'from-afar' }).waitFor()
    const pasted = async () => {
      await page.keyboard.press('/')
      const field = page.getByRole('combobox', { name: /^Search/ })
      await field.press('ControlOrMeta+V')
      const value = await field.inputValue()
      await page.keyboard.press('Escape')
      return value
    }
    expect(await pasted()).to.equal(text)
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('link', { name: 'from-afar' }).waitFor()
    await page.getByRole('button', { name: 'CSV' }).click()
    await page.getByRole('menuitem', { name: 'Copy as CSV' }).click()
    await page.getByRole('status').getByText('Copied').waitFor()
    expect(await pasted()).to.include('from-afar')
    // A browser says that it heeds no opener policy on such a page.
    expect(rig.complaints().filter((line) => !line.includes('Cross-Origin-Opener-Policy'))).to.deep.equal([])
  })

  it('lists keys with the tightest budget that binds each, and looks right in both themes', async () => {
    const { gateway } = rig
    const owner = await gateway.addMember({
      username: 'm.klein',
      budget: JSON.stringify({ usd: 0.001, period: 'month' }),
    })
    const bound = await make({ name: 'bound', owner: owner.id, budget: { usd: 20, period: 'month' } })
    await make({ name: 'shut', models: [], disabled: true })
    await spend(bound.key)
    await gateway.row(({ key_id: id }) => id === bound.id)
    for (const theme of ['light', 'dark'] as const) {
      const page = await rig.signedIn('admin', '/keys?sort=name', { theme })
      const table = page.getByRole('table', { name: 'API keys' })
      const row = table.getByRole('row').filter({ has: page.getByRole('link', { name: 'bound' }) })
      await row.getByText('$0.003 of $0.001 a month · Owner m.klein').waitFor()
      await table.getByRole('row', { name: /shut/ }).getByText('none').first().waitFor()
      await table.getByRole('row', { name: /shut/ }).getByText('disabled').waitFor()
      expect(await axe(page)).to.deep.equal([])
      await row.getByRole('link', { name: 'bound' }).click()
      const budgets = page.getByRole('region', { name: 'Budgets that bind it' })
      await budgets.getByText('Owner m.klein').waitFor()
      const shown = await budgets.getByRole('listitem').allInnerTexts()
      expect(shown.map((text) => text.split('\n')[0])).to.deep.equal(['Owner m.klein', 'This key'])
      expect(await axe(page)).to.deep.equal([])
      await page.getByRole('tab', { name: 'Usage' }).click()
      await page.getByRole('table', { name: 'Usage' }).getByRole('cell', { name: 'sable' }).waitFor()
      expect(await axe(page)).to.deep.equal([])
    }
  })

  it('filters, searches and sorts in the address, and says what fits to nothing', async () => {
    const page = await rig.signedIn('admin', '/keys?state=disabled')
    const table = page.getByRole('table', { name: 'API keys' })
    await table.getByRole('link', { name: 'shut' }).waitFor()
    expect(await table.getByRole('link').allInnerTexts()).to.deep.equal(['shut'])
    await page.getByRole('button', { name: 'Remove filter: State is disabled' }).click()
    await table.getByRole('link', { name: 'bound' }).waitFor()
    await table.getByRole('button', { name: 'Name' }).click()
    await page.waitForURL('**/keys?sort=name')
    await table.getByRole('columnheader', { name: 'Name' }).and(page.locator('[aria-sort=ascending]')).waitFor()
    await page.getByRole('searchbox', { name: 'Search keys' }).fill('nobody has this')
    await page.getByText('No key fits these filters.').waitFor()
    expect(new URL(page.url()).searchParams.get('search')).to.equal('nobody has this')
    await page.goto('/keys?sort=wrong&state=nothing')
    await page.getByRole('status').getByText('The address has a value for "sort"').waitFor()
    await table.getByRole('link', { name: 'bound' }).waitFor()
  })

  it('changes what is allowed, and shows what somebody else changed meanwhile', async () => {
    const made = await make({ name: 'changing', models: ['sable'], budget: { usd: 1 } })
    const page = await rig.signedIn('admin', pathOf(made))
    await page.getByRole('radiogroup', { name: 'Models' }).getByRole('radio', { name: 'All' }).click()
    await page.getByRole('button', { name: 'Remove Budget' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('status').getByText('Saved.').waitFor()
    const now = (await rig.gateway.asAdmin(`GET /api/api-keys/${made.id}`)).body
    expect([now['models'], now['budget']]).to.deep.equal([null, null])

    await rig.gateway.asAdmin(`PATCH /api/api-keys/${made.id}`, { name: 'theirs' })
    await page.getByRole('textbox', { name: 'Name' }).fill('mine')
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog')
    await page
      .getByRole('dialog', { name: /^Changed by admin/ })
      .getByRole('row', { name: 'Name theirs mine' })
      .waitFor()
    await dialog.getByRole('button', { name: 'Keep mine' }).click()
    await page.getByRole('heading', { level: 1, name: 'mine' }).waitFor()
    expect(rig.complaints().filter((line) => !line.includes('status of 412'))).to.deep.equal([])

    await page.getByRole('textbox', { name: 'Name' }).fill('bound')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('bound').first().waitFor()
    expect(rig.complaints().filter((line) => !line.includes('status of 409'))).to.deep.equal([])
  })

  it('disables and enables, rotates with a grace or by typing, and deletes by typing', async () => {
    const made = await make({ name: 'old-bot' })
    const stateOf = async () => (await rig.gateway.asAdmin(`GET /api/api-keys/${made.id}`)).body['state']
    const page = await rig.signedIn('admin', pathOf(made))
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('status').getByText('Disabled old-bot.').waitFor()
    expect(await stateOf()).to.equal('disabled')
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Disable' }).waitFor()
    expect(await stateOf()).to.equal('active')

    await rig.gateway.asAdmin(`PATCH /api/api-keys/${made.id}`, { tags: { team: 'red' } })
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('alert').getByText('stale_version').waitFor()
    await page.reload()
    expect(rig.complaints().filter((line) => !line.includes('status of 412'))).to.deep.equal([])

    await page.getByRole('button', { name: 'Rotate' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: '1 hour' }).click()
    await dialog.getByRole('button', { name: 'Rotate old-bot' }).click()
    const second = await page.getByRole('textbox', { name: 'Key' }).inputValue()
    await page.getByRole('button', { name: 'I have kept it' }).click()
    await spend(made.key)
    await spend(second)

    await page.getByRole('button', { name: 'Rotate' }).click()
    await dialog.getByRole('radio', { name: 'Not at all' }).click()
    expect(await dialog.getByRole('button', { name: 'Rotate old-bot' }).isDisabled()).to.equal(true)
    await dialog.getByRole('textbox', { name: 'Type old-bot to confirm' }).fill('old-bot')
    await dialog.getByRole('button', { name: 'Rotate old-bot' }).click()
    await page.getByRole('button', { name: 'I have kept it' }).click()
    const headers = { authorization: `Bearer ${second}` }
    expect((await rig.gateway.post('/v1/chat/completions', { model: 'sable' }, headers)).status).to.equal(401)

    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    expect(await axe(page)).to.deep.equal([])
    await dialog.getByRole('textbox', { name: 'Type old-bot to confirm' }).fill('old-bot')
    await dialog.getByRole('button', { name: 'Delete old-bot' }).click()
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
    await page.getByRole('status').getByText('Deleted old-bot.').waitFor()
    expect((await rig.gateway.asAdmin(`GET /api/api-keys/${made.id}`)).status).to.equal(404)
  })

  it('begins a budget anew, of a key that is used up', async () => {
    const made = await make({ name: 'spent', budget: { usd: 0.001 } })
    await spend(made.key)
    await rig.gateway.row(({ key_id: id }) => id === made.id)
    const page = await rig.signedIn('admin', pathOf(made))
    const budgets = page.getByRole('region', { name: 'Budgets that bind it' })
    await budgets.getByText('$0.003 of $0.001 a month').waitFor()
    await budgets.getByRole('button', { name: 'Reset budget' }).click()
    await page.getByRole('dialog').getByText('$0.003').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset budget' }).click()
    await budgets.getByText('$0.00 of $0.001 a month').waitFor()
    await spend(made.key)
  })

  it('disables several at once, and takes it back', async () => {
    const [one, two] = [await make({ name: 'many-1' }), await make({ name: 'many-2' })]
    const states = async () =>
      Promise.all(
        [one, two].map(async ({ id }) => (await rig.gateway.asAdmin(`GET /api/api-keys/${id}`)).body['state']),
      )
    const page = await rig.signedIn('admin', '/keys?search=many-')
    await page.getByRole('checkbox', { name: 'Choose many-1' }).check()
    await page.getByRole('checkbox', { name: 'Choose many-2' }).press('Space')
    await page.getByRole('group', { name: '2 keys chosen' }).getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('status').getByText('Disabled 2 keys.').waitFor()
    expect(await states()).to.deep.equal(['disabled', 'disabled'])
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('table').getByText('enabled').nth(1).waitFor()
    expect(await states()).to.deep.equal(['active', 'active'])
  })

  it('shows a key of the file with its place, and changes nothing of it', async () => {
    const page = await rig.signedIn('admin', '/keys')
    expect(await page.getByRole('checkbox', { name: 'Choose test' }).count()).to.equal(0)
    await page.getByRole('table', { name: 'API keys' }).getByRole('link', { name: 'test' }).click()
    await page.getByRole('heading', { level: 1, name: 'test' }).waitFor()
    await page.getByText(/^Declared in .*:\d+\. Change it there/).waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).count()).to.equal(0)
    expect(await page.getByRole('button', { name: 'Rotate' }).count()).to.equal(0)
    expect(await axe(page)).to.deep.equal([])
  })

  it('shows whatever a key is called as text', async () => {
    const hostile = '<img/src=x/onerror=alert(1)>'
    const made = await make({ name: hostile, tags: { note: hostile } })
    const page = await rig.signedIn('admin', '/keys')
    await page.getByRole('table', { name: 'API keys' }).getByRole('link', { name: hostile }).waitFor()
    await page.goto(pathOf(made))
    await page.getByRole('heading', { level: 1, name: hostile }).waitFor()
    expect(await page.locator('main img').count()).to.equal(0)
  })

  it('shows viewers their own keys, and lets them make some where the settings allow it', async () => {
    const { gateway } = rig
    const page = await rig.signedIn('viewer', '/keys')
    const table = page.getByRole('table', { name: 'API keys' })
    await table.getByRole('link', { name: 'ci-bot' }).click()
    await page.getByRole('region', { name: 'Budgets that bind it' }).getByText('This key').waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).count()).to.equal(0)
    expect(await page.getByRole('button', { name: 'Reset budget' }).count()).to.equal(0)
    expect(await axe(page)).to.deep.equal([])
    await page.goto('/keys')
    await table.getByRole('link', { name: 'ci-bot' }).waitFor()
    expect(await table.getByRole('link').allInnerTexts()).to.deep.equal(['ci-bot'])
    expect(await page.getByRole('button', { name: 'Add key' }).count()).to.equal(0)
    await page.goto('/keys/new')
    await page.getByText(/^Only admins see/).waitFor()

    const changed = await gateway.asAdmin('PATCH /api/config/server/security', { self_service_keys: true })
    expect(changed.status).to.equal(200)
    await page.goto('/keys')
    await page.getByRole('button', { name: 'Add key' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('own')
    expect(await page.getByRole('combobox', { name: 'Owner' }).count()).to.equal(0)
    await page.getByRole('button', { name: 'Save' }).click()
    const key = await page.getByRole('textbox', { name: 'Key' }).inputValue()
    await page.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByRole('heading', { level: 1, name: 'own' }).waitFor()
    await spend(key)
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('status').getByText('Disabled own.').waitFor()
  })

  it('says why a list or a key could not be shown, and tries again', async () => {
    const page = await rig.signedIn('admin', '/no/such/place')
    const broken = { status: 500, json: { error: { message: 'It broke.', code: 'internal_error', param: null } } }
    await page.route('**/api/api-keys?**', (route) => route.fulfill(broken))
    await page.getByRole('link', { name: 'API keys', exact: true }).click()
    await page.getByRole('alert').getByText('It broke.').waitFor()
    await page.unroute('**/api/api-keys?**')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('table', { name: 'API keys' }).waitFor()
    await page.goto('/keys/01a20713-0000-7000-8000-000000000000')
    await page.getByRole('alert').getByText('There is no API key').waitFor()
    expect(rig.complaints().filter((line) => !/status of (500|404)/.test(line))).to.deep.equal([])
  })

  it('says to somebody without keys that there are none', async () => {
    const page = await rig.signedIn('viewer', '/account')
    await page.route('**/api/api-keys?**', (route) => route.fulfill({ json: { data: [], next_cursor: null } }))
    await page.getByRole('link', { name: 'API keys', exact: true }).click()
    await page.getByText('You own no keys.').waitFor()
    expect(await axe(page)).to.deep.equal([])
  })
})
