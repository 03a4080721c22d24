// What people read: tables, JSON, pictures.
#pragma once
