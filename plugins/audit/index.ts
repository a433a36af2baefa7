import { definePlugin } from '../../engine/index.ts'
import auditVerify from './audit-verify.ts'
import audit from './audit.ts'
import compareCheckpoints from './compare-checkpoints.ts'
import listAudit from './list-audit.ts'
import verifyAudit from './verify-audit.ts'

export default definePlugin({
  name: 'audit',
  summary: 'The audit trail: who changed what.',
  stability: 'stable',
  services: [audit],
  actions: [listAudit, verifyAudit, compareCheckpoints],
  commands: [auditVerify],
})
