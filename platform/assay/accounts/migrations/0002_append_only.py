"""The database itself refuses to change or delete an audit event."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION accounts_auditevent_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit events are append-only' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER accounts_auditevent_append_only BEFORE UPDATE OR DELETE ON accounts_auditevent
    FOR EACH ROW EXECUTE FUNCTION accounts_auditevent_append_only();
"""
BACKWARD = """
DROP TRIGGER accounts_auditevent_append_only ON accounts_auditevent;
DROP FUNCTION accounts_auditevent_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
