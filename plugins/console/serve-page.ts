import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { defineStage } from '../../engine/index.ts'
import type { Ingress } from '../../engine/index.ts'
import { bytesOf, commonHeaders, folderOf, nothingAt, ofBuild } from './build.ts'

/** What the build leaves in the page where the nonce of each answer belongs. */
const placeholder = 'sluice-nonce'

/** What the page may do (W3C Content Security Policy 3). Styles that a script adds have the nonce. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' 'nonce-${placeholder}'`,
  "img-src 'self' data: blob:",
  'media-src blob:',
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Nothing but the microphone, for the recordings of the playground. */
const permissions = [
  'accelerometer',
  'autoplay',
  'camera',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'geolocation',
  'gyroscope',
  'magnetometer',
  'midi',
  'payment',
  'publickey-credentials-get',
  'screen-wake-lock',
  'usb',
  'xr-spatial-tracking',
].map((feature) => `${feature}=()`)

/** The first segments of the addresses that `console/src/app/router.tsx` has. */
const screens = new Set([
  '',
  'account',
  'audit',
  'configuration',
  'guards',
  'keys',
  'logs',
  'mcp-servers',
  'members',
  'models',
  'new-password',
  'pages',
  'pipelines',
  'playground',
  'providers',
  'quick-start',
  'routing',
  'settings',
  'setup',
  'sign-in',
])

/**
 * Answers the page of the console: at its own addresses to everybody, elsewhere to browsers, whose router says that
 * there is no such screen. A program that asks elsewhere, as for `/docs`, gets 404. Each answer has a new nonce of
 * 16 random bytes. 404 if the console was not built.
 */
export default defineStage({
  name: 'serve-page',
  summary: 'Answer the page of the console.',
  config: ofBuild,
  needs: ['ingress'],
  provides: ['reply'],
  build: ({ folder }) => {
    const file = join(folderOf(folder), 'index.html')
    return async ({ ingress }) => {
      const path = ingress.params['*'] ?? ''
      const isOwn = screens.has(path.split('/', 1)[0] as string)
      const page = isOwn || takesPages(ingress) ? await bytesOf(file) : undefined
      if (!page) throw nothingAt(ingress, `/${path}`)
      const nonce = randomBytes(16).toString('base64')
      const html = page.toString().replaceAll(placeholder, nonce)
      return {
        reply: {
          status: 200,
          headers: {
            ...commonHeaders,
            'cache-control': 'no-store',
            'content-security-policy': policy.replace(placeholder, nonce),
            'permissions-policy': [...permissions, 'microphone=(self)'].join(', '),
          },
          body: { kind: 'bytes', bytes: Buffer.from(html), type: 'text/html; charset=utf-8' },
        },
      }
    }
  },
})

/** Only browsers ask for HTML by name; an asterisk is what every other client sends. */
function takesPages({ headers: { accept = '' } }: Ingress): boolean {
  return accept.toLowerCase().includes('text/html')
}
