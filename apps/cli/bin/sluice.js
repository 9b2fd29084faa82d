#!/usr/bin/env node
// Starts the build. From a checkout, run `npm run build` first.
import { main } from '../dist/main.js'

await main(process)
