#!/usr/bin/env node
'use strict'
// Checks the runtime before anything modern is parsed, then hands over to the command line.
const major = Number(process.versions.node.split('.')[0])
if (major < 26) {
  console.error(
    `sluice needs Node.js 26 or newer; this is ${process.version}. In a checkout, start it with "npm start" or "npx sluice".`,
  )
  process.exit(1)
}
const { enableCompileCache } = require('node:module')
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { setFlagsFromString } = require('node:v8')

enableCompileCache()
// Node strips types everywhere but below node_modules, so an installed package runs its built files.
const root = join(__dirname, '..', '..')
const source = join(root, 'engine', 'cli', 'main.ts')
const built = join(root, 'dist', 'engine', 'cli', 'main.js')
const installed = root.includes('node_modules')
const entry = !installed && existsSync(source) ? source : built
// Starting leaves much garbage, once. The space for young objects would grow with it and stay some 30 MB too large for a
// process that has little to do; afterwards it grows by what requests need.
const growth = (factor) => setFlagsFromString(`--semi-space-growth-factor=${factor}`)
growth(1)
// Several threads that collect young objects together get in each other's way more than they help, there are so few of them.
setFlagsFromString('--no-parallel-scavenge')
import(pathToFileURL(entry).href)
  .then(({ main }) => main(process.argv))
  .then(
    () => growth(2),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
