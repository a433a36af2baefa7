import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import type { Plugin } from 'vite'

/** The gateway puts a new nonce in the place of this word into each copy of the page. */
const nonce = 'sluice-nonce'

/** Writes each file once more with Brotli and with gzip, so that the gateway never compresses. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  writeBundle({ dir = '' }) {
    const assets = join(dir, 'assets')
    for (const name of readdirSync(assets).filter((file) => /\.(js|css|svg)$/.test(file))) {
      const bytes = readFileSync(join(assets, name))
      writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes))
      writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }))
    }
  },
}

/** Large parts that few screens load, each when it is needed. */
const alone =
  /\/parts\/(Plot|VirtualRows|Yaml|yaml-tokens)|node_modules\/(uplot|@lezer|@tanstack\/(react-virtual|virtual-core))\//

/**
 * One file for what every page runs and what screens share, so that a browser asks for few files before it shows
 * anything; `null`: the module is split off as it is loaded.
 */
function fileOf(id: string): string | null {
  if (alone.test(id) || id.includes('/src/screens/')) return null
  return 'app'
}

export default defineConfig({
  plugins: [react(), compressed],
  html: { cspNonce: nonce },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2023',
    // An inlined asset would be a `data:` address, which the page's policy allows for images alone.
    assetsInlineLimit: 0,
    // All of it is smaller than the requests for its pieces.
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: fileOf, debugName: 'files' }] } } },
    modulePreload: { polyfill: false },
    // `console:size` has the budget.
    chunkSizeWarningLimit: 800,
  },
  // For `npm run dev -w console` beside a gateway on its usual port.
  server: { proxy: { '/api': 'http://127.0.0.1:8080', '/v1': 'http://127.0.0.1:8080' } },
})
