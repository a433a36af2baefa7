import { definePlugin } from '../../engine/index.ts'
import audit from './audit.ts'

export default definePlugin({ name: 'audit', summary: 'The audit trail.', services: [audit] })
