import { writeFileSync } from 'node:fs'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { axe, startConsole, sticksOut } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'
import { until } from '../support/until.ts'

const payload = '<img src=x onerror="document.title=1">'

describe('console/guards', () => {
  let rig: SignedInRig
  let answered = ''

  const ask = async (text: string, headers: Record<string, string> = {}) => {
    const answer = await rig.gateway.post(
      '/v1/chat/completions',
      { model: 'echo', messages: [{ role: 'user', content: text }] },
      headers,
    )
    await answer.text()
    return answer
  }

  before(async function () {
    rig = await startConsole(this, {
      records: {
        guards: [
          { name: 'contact', kind: 'pii', action: 'mask', entities: ['email', 'phone'] },
          { name: 'insiders', kind: 'words', words: ['Project Aurora', payload], message: payload },
          { name: 'watching', kind: 'words', words: ['pear'], shadow: true, side: ['input'] },
        ],
      },
    })
    expect((await ask('Hello')).status).to.equal(200)
    expect((await ask('Project Aurora')).status).to.equal(400)
    await ask('A pear for ann@example.com')
    await rig.gateway.rows(3)
    await until(async () => {
      const { body } = await rig.gateway.asAdmin('GET /api/logs?guarded=masked')
      const [row] = body['data'] as readonly { readonly id: string }[]
      answered = row?.id ?? ''
      return answered !== ''
    })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(() => rig?.close())

  const picture = async (page: Page, name: string) => {
    const folder = process.env['GUARDS_PICTURES']
    if (folder !== undefined) writeFileSync(`${folder}/${name}.png`, await page.screenshot({ fullPage: true }))
  }

  for (const theme of ['light', 'dark'] as const)
    it(`shows the guards, what each did, live beside shadow, and leads to its requests (${theme})`, async () => {
      const page = await rig.signedIn('admin', '/', { theme })
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Guards' }).click()
      await page.getByRole('heading', { level: 1, name: 'Guards' }).waitFor()
      const table = page.getByRole('table', { name: 'Guards' })
      await table
        .getByRole('row', { name: /^contact in file on pii requests, answers mask everything [1-9]/ })
        .waitFor()
      await table
        .getByRole('row', { name: /^watching in file in shadow words requests deny everything 3 1 0/ })
        .waitFor()
      expect(await axe(page)).to.deep.equal([])
      await picture(page, `list-${theme}`)

      await table.getByRole('link', { name: /insiders/ }).click()
      await page.getByRole('heading', { level: 1, name: 'insiders' }).waitFor()
      await page.getByText(/^Declared in .*:\d+\. Change it there/).waitFor()
      await page.getByText(`Project Aurora, ${payload}`).waitFor()
      await page.getByText(payload, { exact: true }).waitFor()
      expect(await page.locator('main img').count()).to.equal(0)
      expect(await page.getByRole('button', { name: 'Save' }).count()).to.equal(0)
      expect(await page.getByRole('button', { name: 'Delete' }).count()).to.equal(0)
      expect(await axe(page)).to.deep.equal([])

      await page.getByRole('tab', { name: 'Verdicts' }).click()
      await page.getByRole('img', { name: /^Verdicts per day, \d+ in all, most \d+ on \d{4}-\d\d-\d\d$/ }).waitFor()
      const figures = page.getByRole('table', { name: 'Figures' })
      await figures.getByRole('row', { name: /^requests live 3 1 0 [\d.]+ ms [\d.]+ ms [\d.]+ ms$/ }).waitFor()
      await figures.getByRole('row', { name: /^answers live 2 0 0 / }).waitFor()
      expect(await axe(page)).to.deep.equal([])
      await picture(page, `verdicts-${theme}`)
      await page.getByRole('button', { name: 'Table' }).click()
      await page
        .getByRole('table', { name: 'Verdicts per day' })
        .getByRole('row', { name: /^\d{4}-\d\d-\d\d 4 1$/ })
        .waitFor()
      expect(await axe(page)).to.deep.equal([])

      await page.getByRole('link', { name: 'Requests denied' }).click()
      await page.getByRole('button', { name: 'Remove filter: Guarded is denied' }).waitFor()
      await page.getByRole('table', { name: 'Requests' }).getByRole('link').first().waitFor()
      expect(await page.getByRole('table', { name: 'Requests' }).getByRole('link').count()).to.equal(1)

      await page.goto('/guards/watching?tab=usage')
      await page.getByRole('img', { name: /^Verdicts per day in shadow, 3 in all/ }).waitFor()
      await page.getByRole('row', { name: /^requests in shadow 3 1 0 / }).waitFor()
      expect(await page.getByRole('link', { name: 'Requests denied' }).count()).to.equal(0)
    })

  it('shows on the page of a request which guards judged it', async () => {
    const page = await rig.signedIn('admin', `/logs/${answered}`)
    const table = page.getByRole('table', { name: 'Guards' })
    await table.getByRole('row', { name: /^contact request mask masked 1 [\d.]+ ms$/ }).waitFor()
    await table.getByRole('row', { name: /^watching in shadow request deny denied 1 / }).waitFor()
    expect(await axe(page)).to.deep.equal([])
    await picture(page, 'request')
    await table.getByRole('link', { name: 'contact' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'contact' }).waitFor()
  })

  it('tries a text, whose places are marked and which stays text and is kept nowhere', async () => {
    const page = await rig.signedIn('admin', '/guards/contact')
    const text = `${payload} ann@example.com, bob@example.com`
    await page.getByRole('textbox', { name: 'Text' }).fill(text)
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    const result = page.getByRole('group', { name: 'Result' })
    await result.getByRole('status').getByText('found').waitFor()
    await result.getByText('email × 2').waitFor()
    const places = result.getByRole('group', { name: 'Places' })
    expect(await places.innerText()).to.equal(text)
    expect(await places.locator('mark').allInnerTexts()).to.deep.equal(['ann@example.com', 'bob@example.com'])
    await result.getByText(`${payload} [EMAIL], [EMAIL]`).waitFor()
    expect(await page.locator('main img').count()).to.equal(0)
    expect(await page.title()).to.equal('contact · Sluice')
    expect(await axe(page)).to.deep.equal([])
    await picture(page, 'try')
    await page.getByRole('textbox', { name: 'Text' }).fill('Nothing of that kind')
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await result.getByText('nothing found').waitFor()
    const kept = String(
      await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])'),
    )
    expect(kept).not.to.contain('ann@example')
    const rows = JSON.stringify((await rig.gateway.asAdmin('GET /api/logs?type=test')).body)
    expect(rows).not.to.contain('bob@example')
  })

  it('adds a guard of a kind with its own fields, tries it before, changes it, turns it off, and deletes it', async () => {
    const page = await rig.signedIn('admin', '/guards')
    await page.getByRole('button', { name: 'Add guard' }).click()
    await page.getByRole('heading', { level: 1, name: 'Add guard' }).waitFor()
    await page.getByRole('combobox', { name: 'Kind' }).fill('regex')
    await page.getByRole('option', { name: 'regex' }).click()
    await page.getByText('Finds what regular expressions match').waitFor()
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).and(page.locator('[aria-invalid="true"]')).waitFor()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('orders')
    await page.getByRole('button', { name: 'Add to Patterns' }).click()
    await page.getByRole('textbox', { name: 'Pattern' }).fill('(a)\\1')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('alert')
      .getByText(/does not compile/)
      .waitFor()
    expect(await axe(page)).to.deep.equal([])
    await page.getByRole('textbox', { name: 'Pattern' }).fill(String.raw`ORD-\d{1,8}`)
    await page.getByRole('textbox', { name: 'Text' }).fill('see ORD-12')
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await page.getByRole('group', { name: 'Places' }).locator('mark').getByText('ORD-12').waitFor()
    await picture(page, 'add')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'orders' }).waitFor()
    const made = (await rig.gateway.asAdmin('GET /api/guards/orders')).body
    expect(made).to.deep.include({ kind: 'regex', action: 'deny' })
    expect(made['config']).to.deep.include({ patterns: [String.raw`ORD-\d{1,8}`] })
    expect((await ask('ORD-1')).status).to.equal(400)

    await page.getByRole('switch', { name: 'Shadow' }).click()
    await page.getByRole('button', { name: 'Add to Patterns' }).click()
    await page.getByRole('textbox', { name: 'Pattern' }).last().fill('INV-1')
    await page.getByRole('group', { name: 'Patterns' }).getByRole('textbox', { name: 'Name' }).last().fill('invoice')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('status').getByText('Saved.').waitFor()
    await page.getByText('in shadow', { exact: true }).waitFor()
    const changed = (await rig.gateway.asAdmin('GET /api/guards/orders')).body
    expect(changed).to.include({ shadow: true })
    expect(changed['config']).to.deep.include({
      patterns: [String.raw`ORD-\d{1,8}`, { name: 'invoice', pattern: 'INV-1' }],
    })
    expect((await ask('ORD-1')).status).to.equal(200)

    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('off', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('textbox', { name: 'Type orders to confirm' }).fill('orders')
    await page.getByRole('button', { name: 'Delete orders' }).click()
    await page.getByRole('status').getByText('Deleted orders.').waitFor()
    await page.getByRole('heading', { level: 1, name: 'Guards' }).waitFor()
    expect((await rig.gateway.asAdmin('GET /api/guards/orders')).status).to.equal(404)
    // The compiled pattern was refused once, which the browser tells.
    expect(rig.complaints().filter((one) => !one.includes('status of 422'))).to.deep.equal([])
  })

  it('says who still names a guard that is to go', async () => {
    await rig.gateway.asAdmin('POST /api/guards', { name: 'needed', kind: 'words', words: ['a'], default: false })
    const { body } = await rig.gateway.asAdmin('POST /api/api-keys', { name: 'user', guards: ['needed'] })
    const page = await rig.signedIn('admin', '/guards/needed')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete needed' })
    await dialog.getByRole('textbox', { name: 'Type needed to confirm' }).fill('needed')
    await dialog.getByRole('button', { name: 'Delete needed' }).click()
    await dialog.getByRole('alert').getByText('The guard "needed" is in use: API key "user" needs it.').waitFor()
    expect(await axe(page)).to.deep.equal([])
    // The browser tells of the refusal.
    expect(rig.complaints().filter((one) => !one.includes('status of 409'))).to.deep.equal([])
    await rig.gateway.asAdmin(`DELETE /api/api-keys/${body['id'] as string}`)
    await dialog.getByRole('button', { name: 'Delete needed' }).click()
    await page.getByRole('status').getByText('Deleted needed.').waitFor()
  })

  it('is a field of keys and of models', async () => {
    const page = await rig.signedIn('admin', '/keys/new')
    await page.getByRole('textbox', { name: 'Name' }).fill('guarded')
    await page.getByRole('combobox', { name: 'Guards', exact: true }).fill('ins')
    await page.getByRole('option', { name: 'insiders' }).click()
    await page.getByRole('combobox', { name: 'Guards off' }).fill('contact')
    await page.getByRole('combobox', { name: 'Guards off' }).press('Enter')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: 'New key' }).waitFor()
    const { body } = await rig.gateway.asAdmin('GET /api/api-keys?search=guarded')
    expect((body['data'] as readonly object[])[0]).to.deep.include({ guards: ['insiders'], guards_off: ['contact'] })

    const model = await rig.signedIn('admin', '/models?add=1')
    await model.getByRole('textbox', { name: 'Name' }).fill('guarded')
    await model.getByRole('combobox', { name: 'Provider' }).fill('echo')
    await model.getByRole('option', { name: 'echo' }).click()
    await model
      .getByRole('button', { name: /Advanced|more|fields/i })
      .first()
      .click()
    await model.getByRole('combobox', { name: 'Guards' }).fill('insiders')
    await model.getByRole('combobox', { name: 'Guards' }).press('Enter')
    await model.getByRole('button', { name: 'Save' }).click()
    await model.getByRole('heading', { level: 1, name: 'guarded' }).waitFor()
    expect((await rig.gateway.asAdmin('GET /api/config/models/guarded')).body['guards']).to.deep.equal(['insiders'])
  })

  it('leaves no page at 320 pixels, and keeps a long name within it', async () => {
    const page = await rig.signedIn('admin', '/guards', { width: 320 })
    await page
      .getByRole('table', { name: 'Guards' })
      .getByRole('link', { name: /contact/ })
      .waitFor()
    expect(await sticksOut(page)).to.deep.equal([])
    for (const path of ['/guards/contact', '/guards/contact?tab=usage', '/guards?add=1']) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForSelector('[class*=_skeleton_]', { state: 'detached' })
      expect(await sticksOut(page), path).to.deep.equal([])
      expect(await axe(page), path).to.deep.equal([])
    }
    await page.goto(`/logs/${answered}`)
    await page.getByRole('table', { name: 'Guards' }).waitFor()
    expect(await sticksOut(page)).to.deep.equal([])
    await page.goto('/guards/contact')
    await page.getByRole('textbox', { name: 'Text' }).fill(`${'m'.repeat(200)} ann@example.com`)
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await page.getByRole('group', { name: 'Places' }).waitFor()
    expect(await sticksOut(page)).to.deep.equal([])
  })

  it('keeps viewers out', async () => {
    const page = await rig.signedIn('viewer', '/guards/contact')
    await page.getByText('Only admins see guards.').waitFor()
    await page.goto('/guards')
    await page.getByText('Only admins see guards.').waitFor()
  })
})
