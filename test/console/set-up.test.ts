import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { chatFrames } from '../service/streams.ts'
import { password } from '../support/admin.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { axe, startConsole, startNewConsole } from './support/browser.ts'
import type { NewRig, SignedInRig } from './support/browser.ts'

const payload = '<img src=x onerror=alert(1)>'
/** Enough of a list to choose from: what cannot talk, what has no price, and what is here already. */
const listed = [{ id: 'text-embedding-3-large' }, { id: 'small' }, { id: 'large' }, { id: payload }]

/** What somebody does with a page: each of these is one interaction. */
function hands(page: Page) {
  let count = 0
  const named = (role: 'button' | 'option' | 'switch', name: string) =>
    page.getByRole(role, { name, exact: role !== 'switch' })
  const one = async (act: Promise<unknown>) => {
    count++
    await act
  }
  return {
    fill: (label: string, text: string) => one(page.getByRole('textbox', { name: label, exact: true }).fill(text)),
    fillSecret: (label: string, text: string) => one(page.getByLabel(label, { exact: true }).fill(text)),
    choose: async (label: string, option: string) => {
      await one(page.getByRole('combobox', { name: label }).fill(option))
      await one(named('option', option).click())
    },
    press: (name: string, role: 'button' | 'switch' = 'button') => one(named(role, name).click()),
    key: (key: string) => one(page.keyboard.press(key)),
    interactions: () => count,
  }
}

const account = async ({ fill, fillSecret, press }: ReturnType<typeof hands>) => {
  await fill('Username', 'first')
  await fillSecret('Password', password)
  await fillSecret('Repeat password', password)
  await press('Create account')
}

const answered = (page: Page, text: string) =>
  page.getByRole('log', { name: 'Conversation' }).getByText(text, { exact: false }).first().waitFor()

describe('console/set-up steps', () => {
  let upstream: ScriptedUpstream
  before(async () => {
    upstream = await scriptedUpstream()
    upstream.answer(({ path }) =>
      path.endsWith('/models') ? { body: { data: listed } } : { frames: chatFrames('Good ', 'morning') },
    )
  })
  after(() => upstream.close())

  describe('of a new gateway', () => {
    let rig: NewRig
    beforeEach(async function () {
      rig = await startNewConsole(this)
    })
    afterEach(async () => {
      const complaints = rig.complaints()
      await rig.close()
      expect(complaints).to.deep.equal([])
    })

    it('lead from the link to the first answer of a provider in at most 15 interactions', async () => {
      const page = await rig.open(`/setup#token=${rig.setupToken}`)
      const user = hands(page)
      await account(user)
      await page.getByRole('heading', { level: 1, name: 'Set up Sluice' }).waitFor()
      await user.choose('Type', 'compatible')
      await user.fill('Base URL', `${upstream.url}/v1`)
      await user.fill('API key', 'sk-of-the-provider')
      await user.press('Allow private addresses', 'switch')
      await user.press('Test')
      await page.getByText(/^It answers: its list of models, /).waitFor()
      await user.press('Save')

      await page.getByRole('region', { name: 'Add models' }).waitFor()
      await page.getByRole('checkbox', { name: payload }).waitFor()
      const ticked = page.getByRole('checkbox', { checked: true })
      expect(await ticked.count()).to.equal(2)
      expect(await page.getByRole('checkbox', { name: 'text-embedding-3-large' }).isChecked()).to.equal(false)
      await user.press('Add 2 models')

      await page.getByRole('region', { name: 'Make a key' }).waitFor()
      await user.press('Make key')
      const dialog = page.getByRole('dialog', { name: 'New key' })
      const key = await dialog.getByRole('textbox', { name: 'Key' }).inputValue()
      await user.press('I have kept it')

      await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor()
      expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).to.equal('small')
      expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).not.to.equal('')
      expect(page.url()).not.to.include(key)
      await user.key('Enter')
      await answered(page, 'Good morning')
      expect(user.interactions()).to.be.at.most(15)
      expect((await rig.gateway.row(({ requested }) => requested === 'small')).status).to.equal(200)
      // All four are done, and nothing is left on the Overview.
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByRole('region', { name: 'Figures' }).waitFor()
      await page.waitForFunction(() => localStorage.getItem('sluice-set-up-closed') !== null)
      expect(await page.getByRole('region', { name: 'Set up Sluice' }).count()).to.equal(0)
    })

    it('lead to the echo model without any account, and what is left waits on the Overview until it is closed', async () => {
      const page = await rig.open(`/setup#token=${rig.setupToken}`)
      const user = hands(page)
      await account(user)
      await user.press('Use the built-in echo model')
      await user.press('Make key')
      await user.press('I have kept it')
      await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor()
      await user.key('Enter')
      await rig.gateway.row(({ requested, status }) => requested === 'echo' && status === 200)
      expect(user.interactions()).to.be.at.most(15)

      await page.getByRole('link', { name: 'Overview' }).click()
      const card = page.getByRole('region', { name: 'Set up Sluice' })
      await card.getByText('2 of 4 done').waitFor()
      expect(await card.getByRole('link').allInnerTexts()).to.deep.equal(['Add a provider', 'Add models'])
      expect(await axe(page)).to.deep.equal([])
      await card.getByRole('button', { name: 'Close the set-up' }).click()
      await card.waitFor({ state: 'detached' })
      await page.reload()
      await page.getByRole('region', { name: 'Figures' }).waitFor()
      expect(await card.count()).to.equal(0)
    })
  })

  describe('each of which can wait', () => {
    let rig: NewRig
    afterEach(async () => {
      const complaints = rig.complaints()
      await rig.close()
      expect(complaints).to.deep.equal([])
    })

    it('lead on at one click each, and the last one to the Overview, where they wait', async function () {
      rig = await startNewConsole(this)
      const page = await rig.open(`/setup#token=${rig.setupToken}`)
      await account(hands(page))
      for (const [step, path] of [
        ['Add a provider', '/setup/provider'],
        ['Add models', '/setup/models'],
        ['Make a key', '/setup/key'],
      ] as const) {
        await page.getByRole('region', { name: step }).waitFor()
        expect(new URL(page.url()).pathname).to.equal(path)
        await page.getByRole('link', { name: 'Skip for now' }).click()
      }
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      expect(new URL(page.url()).pathname).to.equal('/')
      const card = page.getByRole('region', { name: 'Set up Sluice' })
      expect(await card.getByRole('link').allInnerTexts()).to.include.members(['Add a provider', 'Ask a model'])
    })

    it('make the echo model where the operator has none', async function () {
      const far = { name: 'far', type: 'compatible', base_url: `${upstream.url}/v1`, api_key: 'k', allow_private: true }
      rig = await startNewConsole(this, { providers: [far], models: [] })
      const page = await rig.open(`/setup#token=${rig.setupToken}`)
      const user = hands(page)
      await account(user)
      await user.press('Use the built-in echo model')
      await page.waitForURL(/\/setup\/key\?model=echo$/)
      await user.press('Make key')
      await user.press('I have kept it')
      await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor()
      const greeting = await page.getByRole('textbox', { name: 'Message' }).inputValue()
      await user.key('Enter')
      const { model, provider } = await rig.gateway.row(
        ({ requested, status }) => requested === 'echo' && status === 200,
      )
      expect({ model, provider }).to.deep.equal({ model: 'echo', provider: 'echo' })
      // What was asked, and what repeats it.
      await page.getByRole('log', { name: 'Conversation' }).getByText(greeting).nth(1).waitFor()
    })
  })

  describe('of a gateway that runs', () => {
    let rig: SignedInRig
    before(async function () {
      rig = await startConsole(this)
    })
    // A browser tells of every refusal, too, and refusals are part of these tests.
    afterEach(() => expect(rig.complaints().filter((one) => !/status of (409|500)/.test(one))).to.deep.equal([]))
    after(() => rig?.close())

    it('break no rule of access in either theme', async () => {
      for (const theme of ['light', 'dark'] as const)
        for (const step of ['Add a provider', 'Add models', 'Make a key']) {
          const page = await rig.signedIn('admin', '/setup/provider', { theme })
          await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: step }).click()
          const card = page.getByRole('region', { name: step })
          await card
            .getByRole(step === 'Add a provider' ? 'combobox' : 'link')
            .first()
            .waitFor()
          expect(await axe(page), step).to.deep.equal([])
        }
    })

    it('say that there is no provider to add models of, and lead back to it', async () => {
      const page = await rig.signedIn('admin', '/setup/models')
      await page.getByText('There is no provider yet').waitFor()
      const card = page.getByRole('region', { name: 'Add models' })
      await card.getByRole('link', { name: 'Add a provider' }).click()
      await page.getByRole('combobox', { name: 'Type' }).waitFor()
    })

    it('are not for viewers', async () => {
      const page = await rig.signedIn('viewer', '/setup/provider')
      await page.getByText('Only admins see the set-up.').waitFor()
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByRole('region', { name: 'Figures' }).waitFor()
      expect(await page.getByRole('region', { name: 'Set up Sluice' }).count()).to.equal(0)
    })

    it('say what failed, at its field or in its place', async () => {
      await rig.gateway.asAdmin('POST /api/api-keys', { name: 'first-key' })
      const page = await rig.signedIn('admin', '/setup/key')
      await page.getByRole('button', { name: 'Make key' }).click()
      await page.locator('[aria-invalid=true]').waitFor()
      await page.getByRole('textbox', { name: 'Name' }).fill('another')
      await page.route('**/api/api-keys', (route) => route.fulfill({ status: 500, body: '{}' }))
      await page.getByRole('button', { name: 'Make key' }).click()
      await page.getByText('The gateway answered 500.').waitFor()
      await page.unroute('**/api/api-keys')
      await page.getByRole('button', { name: 'Make key' }).click()
      await page.getByRole('dialog', { name: 'New key' }).waitFor()

      const other = await rig.signedIn('admin', '/setup/key')
      await other.route('**/api/config/providers/types', (route) => route.fulfill({ status: 500, body: '{}' }))
      await other.getByRole('link', { name: 'Add a provider' }).click()
      await other.getByText('The gateway answered 500.').first().waitFor()
      await other.unroute('**/api/config/providers/types')
      await other.getByRole('button', { name: 'Retry' }).first().click()
      await other.getByRole('combobox', { name: 'Type' }).waitFor()
    })

    it('suggest a name that no provider has', async () => {
      const page = await rig.signedIn('admin', '/setup/provider')
      await page.getByRole('combobox', { name: 'Type' }).fill('echo')
      await page.getByRole('option', { name: 'echo', exact: true }).click()
      expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).to.equal('echo-2')
    })
  })
})
