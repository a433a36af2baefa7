import { expect } from 'chai'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { until } from '../support/until.ts'
import { axe, startConsole, sticksOut } from './support/browser.ts'
import type { SignedInRig } from './support/browser.ts'
import { pictured } from './support/pictured.ts'

/** What a model may say, and what must stay text. */
const payload = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>'

/** A picture of one pixel, and a second of silence. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const silence = Buffer.concat([
  Buffer.from(
    'RIFF\x64\x1f\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x40\x1f\x00\x00',
    'latin1',
  ),
  Buffer.alloc(8000, 128),
])

describe('console/playground: what is no conversation', () => {
  let rig: SignedInRig
  let upstream: ScriptedUpstream
  before(async function () {
    upstream = await scriptedUpstream()
    rig = await startConsole(this, {
      providers: [
        {
          name: 'media',
          type: 'compatible',
          base_url: `${upstream.url}/v1`,
          offers: ['images', 'speech', 'transcriptions'],
        },
        { name: 'echo', type: 'echo' },
      ],
      models: [
        { name: 'echo', provider: 'echo' },
        { name: 'jury', provider: 'echo', supports_mapeval: true },
        { name: 'painter', provider: 'media' },
      ],
    })
  })
  afterEach(() => expect(rig.complaints()).to.deep.equal([]))
  after(async () => {
    await rig?.close()
    await upstream.close()
  })

  const opened = async (tab: string, model: string | undefined, theme: 'light' | 'dark' = 'light') => {
    const page = await rig.signedIn('viewer', `/playground?tab=${tab}`, { theme })
    await page.getByRole('textbox', { name: 'API key' }).fill(rig.gateway.key)
    if (model !== undefined) await page.getByRole('combobox', { name: 'Model' }).fill(model)
    return page
  }
  it('fits phones', async () => {
    for (const tab of ['decisions', 'embeddings', 'images', 'audio']) {
      const page = await opened(tab, undefined)
      await page.setViewportSize({ width: 320, height: 800 })
      expect(await sticksOut(page), tab).to.deep.equal([])
    }
  })

  for (const theme of ['light', 'dark'] as const)
    it(`asks questions of the three kinds, and draws the answers in their order: ${theme}`, async () => {
      const page = await opened('decisions', undefined, theme)
      await page.getByRole('button', { name: 'Add question' }).click()
      await page.getByRole('textbox', { name: 'Question 2' }).fill('What is it about?')
      await page.getByRole('textbox', { name: 'Choices, one per line' }).fill('zebra\ntrains\napples')
      await page.getByRole('button', { name: 'Add question' }).click()
      await page.getByRole('textbox', { name: 'Question 3' }).fill('How angry is it?')
      await page
        .getByRole('radiogroup', { name: 'Kind of question 3' })
        .getByRole('radio', { name: 'A degree' })
        .click()
      await page.getByRole('textbox', { name: 'Levels from the lowest on, one per line' }).fill('calm\nupset\nfurious')
      await page.getByRole('button', { name: 'Ask', exact: true }).click()
      const answers = page.getByRole('region', { name: 'Answers' })
      await answers.getByRole('heading', { name: 'How angry is it?' }).waitFor()
      const labels = await answers.getByRole('listitem').locator('span:first-child').allTextContents()
      expect(labels).to.deep.equal(['yes', 'no', 'zebra', 'trains', 'apples', 'calm', 'upset', 'furious'])
      await answers.getByText(/^score \d\.\d\d$/).waitFor()
      const row = await rig.gateway.row(({ type }) => type === 'decisions')
      expect(row.model).to.equal('jury')
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `questions-${theme}`)
    })

  it('says that a model refuses, and what the gateway says of a wrong request', async () => {
    const page = await opened('decisions', 'jury')
    await page.route('**/v1/decisions', (route) =>
      route.fulfill({ json: { model: 'jury', answers: [{ type: 'refusal', name: null }] } }),
    )
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.getByText('The model refuses to answer this question.').waitFor()
    await page.unroute('**/v1/decisions')
    await page.getByRole('combobox', { name: 'Model' }).fill('painter')
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.getByRole('alert').getByText('400').waitFor()
    expect(rig.complaints().every((complaint) => complaint.includes('400'))).to.equal(true)
  })

  for (const theme of ['light', 'dark'] as const)
    it(`compares the vectors of texts: ${theme}`, async () => {
      const page = await opened('embeddings', 'echo', theme)
      await page.getByRole('textbox', { name: 'Texts, one per line' }).fill('one\ntwo')
      await page.getByRole('button', { name: 'Embed' }).click()
      const table = page.getByRole('table', { name: 'Vectors' })
      await table.getByText('1.000').waitFor()
      expect(await table.getByRole('row').count()).to.equal(3)
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `vectors-${theme}`)
    })

  for (const theme of ['light', 'dark'] as const)
    it(`shows pictures that came as data, and never loads one from an address: ${theme}`, async () => {
      const address = `${upstream.url}/tracker.png`
      upstream.answer({ body: { created: 1, data: [{ b64_json: pixel, revised_prompt: payload }, { url: address }] } })
      const page = await opened('images', 'painter', theme)
      await page.getByRole('textbox', { name: 'Prompt' }).fill('A gate')
      await page.getByRole('button', { name: 'Generate' }).click()
      const picture = page.getByRole('img', { name: 'A gate' })
      await picture.waitFor()
      expect(await picture.getAttribute('src')).to.equal(`data:image/png;base64,${pixel}`)
      expect(await picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).to.equal(1)
      await page.getByText(address).waitFor()
      await page.getByText(payload).waitFor()
      expect(await page.title()).to.equal('Playground · Sluice')
      expect(upstream.requests.some(({ path }) => path.includes('tracker'))).to.equal(false)
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `pictures-${theme}`)
    })

  for (const theme of ['light', 'dark'] as const)
    it(`speaks, and writes down what a recording says: ${theme}`, async () => {
      upstream.answer({ body: silence, headers: { 'content-type': 'audio/wav' } })
      const page = await opened('audio', 'painter', theme)
      await page.getByRole('button', { name: 'Speak' }).click()
      const player = page.getByLabel('Speech', { exact: true }).locator('audio')
      await player.waitFor()
      expect(await player.getAttribute('src')).to.match(/^blob:/)
      await until(() => player.evaluate((audio) => (audio as unknown as { duration: number }).duration > 0.9))
      expect(await axe(page)).to.deep.equal([])
      await page.getByRole('radio', { name: 'Speech to text' }).click()
      await page.getByRole('combobox', { name: 'Model' }).fill('painter')
      await page.getByLabel('Recording').setInputFiles({ name: 'call.wav', mimeType: 'audio/wav', buffer: silence })
      upstream.answer({ body: { text: `Hello ${payload}` } })
      await page.getByRole('button', { name: 'Transcribe' }).click()
      await page.getByRole('region', { name: 'Transcript' }).getByText(`Hello ${payload}`).waitFor()
      expect(upstream.requests.at(-1)?.body.includes('filename="call.wav"')).to.equal(true)
      expect(await axe(page)).to.deep.equal([])
      await pictured(page, `audio-${theme}`)
    })

  it('keeps the conversation while somebody looks at another tab, and says what a key is for', async () => {
    const page = await rig.signedIn('viewer', '/playground')
    await page.getByRole('textbox', { name: 'Message' }).fill('To be continued')
    await page.getByRole('tab', { name: 'Decisions' }).click()
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.getByRole('alert').getByText('An API key is needed').waitFor()
    await page.getByRole('tab', { name: 'Chat' }).click()
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).to.equal('To be continued')
  })
})
