// Written by npm run generate out of consumer.yaml's schema; never edited.

/** `application.management.security` of consumer.yaml. */
export interface ApplicationManagementSecurityProps {

}
