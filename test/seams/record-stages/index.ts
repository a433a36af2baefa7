import { definePlugin } from 'sluice'
import changeRecord from './change-record.ts'
import changeSection from './change-section.ts'
import createRecord from './create-record.ts'
import deleteRecord from './delete-record.ts'
import getRecord from './get-record.ts'
import getSection from './get-section.ts'
import listRecord from './list-record.ts'
import listSection from './list-section.ts'
import resetSection from './reset-section.ts'

export default definePlugin({
  name: 'record-stages',
  summary: 'Stages of an outsider that show and change records of every type, and sections of the settings.',
  stages: [
    listRecord,
    getRecord,
    createRecord,
    changeRecord,
    deleteRecord,
    listSection,
    getSection,
    changeSection,
    resetSection,
  ],
})
